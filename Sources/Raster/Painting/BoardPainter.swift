/// A stroke of a board's visible list, as the painter knows it.
public struct BoardLayer: Sendable, Hashable {
    /// Identifies the stroke: the index of its operation.
    public var id: UInt64
    /// Identifies the picture: a digest of all visible strokes from the lowest one up to and including this one.
    public var digest: UInt64

    /// Makes a layer.
    @inlinable
    public init(id: UInt64, digest: UInt64) {
        self.id = id
        self.digest = digest
    }
}

/// Paints the visible strokes of a board, as few of them as possible.
///
/// A picture is known by the digest of its visible list, so that every cursor on a room's log may ask for its own board:
/// what was painted for one cursor is there for the others, which share its tiles. In this order:
/// - a picture that is kept is returned: undo and redo of the newest stroke draw nothing;
/// - where a few strokes came or went below others, only the tiles that they touch are painted again;
/// - else the strokes above the longest kept prefix of the list are drawn: for a new stroke that one.
///
/// The pixels are the same in each case. Use one painter a room, on one thread at a time. Memory: the kept versions
/// (bounded by `versionBytes`; one canvas is always kept), 64 bytes a visible stroke, and while it draws that of a
/// ``StrokePainter``.
public struct BoardPainter: Sendable {
    /// While many strokes are drawn at once, the pictures of the last so many are kept, for the next undos.
    private static let keptPrefixes = 16

    /// Pixels a board unit.
    public let scale: Double
    private let blank: Canvas
    private(set) var versions: VersionCache
    /// The pixels that each stroke may touch, by its id.
    private var boxes: [UInt64: PixelBox] = [:]
    /// The ids of the strokes of the last picture.
    private var shown: [UInt64] = []
    private var picture: Canvas
    /// The number of strokes drawn so far, whole or in part.
    public private(set) var strokesDrawn = 0

    /// Makes a painter for canvases of `width` × `height` pixels, `scale` pixels a board unit.
    public init(width: Int, height: Int, scale: Double = 1, versionBytes: Int = 64 << 20) {
        self.scale = scale
        blank = Canvas(width: width, height: height)
        picture = blank
        versions = VersionCache(byteLimit: versionBytes, countLimit: 256)
    }

    /// The number of kept versions.
    public var versionCount: Int { versions.count }

    /// The memory of the kept versions in bytes. Shared tiles count once, or more often until the next recount: a version is
    /// discarded only after a recount.
    public var versionBytes: Int { versions.byteCount }

    /// About all memory that is kept, in bytes.
    public var byteCount: Int { versions.byteCount + 64 * boxes.count }

    /// The picture of the layers, bottom to top.
    ///
    /// - Parameters:
    ///   - stroke: returns a stroke by its index in `layers`; called for those that have to be drawn, bottom to top, each
    ///     before it is drawn. May throw to end the drawing: the strokes drawn so far are kept for the next picture.
    ///   - check: called some hundred times a second while a stroke takes long, with its index. May throw to end the
    ///     drawing: nothing is kept of that stroke.
    /// - Throws: what `stroke` and `check` throw.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], stroke: (Int) throws(Failure) -> PaintedStroke,
        check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas {
        guard let top = layers.last else { return blank }
        if let kept = versions.version(top.digest) {
            show(kept, layers[...])
            return kept
        }
        let known = layers.lastIndex { versions.contains($0.digest) }.map { $0 + 1 } ?? 0
        let base = known == 0 ? blank : versions.version(layers[known - 1].digest) ?? blank
        var painter = StrokePainter(canvasWidth: blank.width, canvasHeight: blank.height, scale: scale)
        if let patched = try patch(layers, base: base, known: known, with: &painter, stroke: stroke, check: check) {
            versions.keep(patched, digest: top.digest, beside: picture)
            show(patched, layers[...])
            return patched
        }
        return try draw(layers, from: known, on: base, with: &painter, stroke: stroke, check: check)
    }

    /// The picture of the layers; `stroke` may end the drawing between strokes.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], stroke: (Int) throws(Failure) -> PaintedStroke
    ) throws(Failure) -> Canvas {
        try canvas(of: layers, stroke: stroke) { _ throws(Failure) in }
    }

    /// Draws all strokes but the `known` lowest ones, whose picture is `base`.
    private mutating func draw<Failure: Error>(
        _ layers: [BoardLayer], from known: Int, on base: Canvas, with painter: inout StrokePainter,
        stroke: (Int) throws(Failure) -> PaintedStroke, check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas {
        var canvas = base
        var kept = base
        for index in known..<layers.count {
            do throws(Failure) {
                try draw(
                    index, of: layers, on: &canvas, within: nil, with: &painter, stroke: stroke, check: check)
            } catch {
                if index > known { versions.keep(canvas, digest: layers[index - 1].digest, beside: kept) }
                show(canvas, layers[..<index])
                throw error
            }
            if index + Self.keptPrefixes >= layers.count {
                versions.keep(canvas, digest: layers[index].digest, beside: kept)
                kept = canvas
            }
        }
        show(canvas, layers[...])
        return canvas
    }

    /// Draws one of the layers, on some of the tiles or all.
    private mutating func draw<Failure: Error>(
        _ place: Int, of layers: [BoardLayer], on canvas: inout Canvas, within part: TileSet?,
        with painter: inout StrokePainter, stroke: (Int) throws(Failure) -> PaintedStroke,
        check: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        let box = painter.draw(try stroke(place), on: &canvas, within: part) {
            do throws(Failure) {
                try check(place)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        boxes[layers[place].id] = box
        strokesDrawn += 1
    }

    /// Repaints the tiles of strokes that came or went since the last picture, unless drawing all strokes above the
    /// `known` lowest ones, whose picture is `base`, is less work.
    private mutating func patch<Failure: Error>(
        _ layers: [BoardLayer], base: Canvas, known: Int, with painter: inout StrokePainter,
        stroke: (Int) throws(Failure) -> PaintedStroke, check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas? {
        guard let changed = changedTiles(layers) else { return nil }
        // Strokes from the first change on are drawn again even where the kept beginning is longer than that.
        let touching = (known..<layers.count).filter { index in
            boxes[layers[index].id].map(changed.touches) ?? true
        }
        guard touching.count < layers.count - known else { return nil }
        var canvas = picture
        for index in changed.indices { canvas.tiles[index] = base.tiles[index] }
        for index in touching {
            try draw(index, of: layers, on: &canvas, within: changed, with: &painter, stroke: stroke, check: check)
        }
        return canvas
    }

    /// The tiles of the strokes that are either in the layers or in the last picture. `nil` when one of them was never
    /// drawn here, or when the order has changed.
    private func changedTiles(_ layers: [BoardLayer]) -> TileSet? {
        let before = Set(shown)
        let now = Set(layers.lazy.map(\.id))
        guard shown.filter(now.contains) == layers.map(\.id).filter(before.contains) else { return nil }
        var tiles = TileSet(of: picture)
        for id in before.symmetricDifference(now) {
            guard let box = boxes[id] else { return nil }
            tiles.insert(box)
        }
        return tiles
    }

    private mutating func show(_ canvas: Canvas, _ layers: ArraySlice<BoardLayer>) {
        picture = canvas
        shown = layers.map(\.id)
        // Bounds the boxes; those of undone strokes are kept for a while, for redo.
        if boxes.count > 2 * layers.count + 256 {
            let visible = Set(shown)
            boxes = boxes.filter { visible.contains($0.key) }
        }
    }
}
