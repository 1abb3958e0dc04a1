/// Paints the visible strokes of a board, and paints as little as it can.
///
/// A picture is known by the digest of its visible list, so that every cursor on a room's log may ask for its own
/// board: what one of them had painted the others get for nothing, and share its tiles. In turn:
/// - a picture that is kept is returned at once: undo and redo of the newest stroke draw nothing;
/// - where a few strokes came or went below others, only the tiles they touch are painted again;
/// - else the strokes above the longest kept beginning of the list are drawn, for a new stroke that one.
///
/// The pixels are the same on every way. A value; use one a room, and one thread at a time. Memory: the kept versions
/// (bounded by `versionBytes`, of which a board with every tile painted needs at least one canvas) and 64 bytes a
/// visible stroke; while it draws also what a ``StrokePainter`` needs.
public struct BoardPainter: Sendable {
    /// While many strokes are drawn at once, the last so many pictures on the way are kept, for the undos to come.
    static let keptOnTheWay = 16

    /// Pixels a board unit.
    public let scale: Double
    let blank: Canvas
    private(set) var versions: VersionCache
    var boxes: [UInt64: PixelBox] = [:]
    private(set) var shown: [UInt64] = []
    private(set) var picture: Canvas
    /// How many strokes were drawn so far, whole or in part.
    public internal(set) var strokesDrawn = 0

    /// Makes a painter for canvases of `width` × `height` pixels, `scale` pixels a board unit.
    public init(width: Int, height: Int, scale: Double = 1, versionBytes: Int = 64 << 20) {
        self.scale = scale
        blank = Canvas(width: width, height: height)
        picture = blank
        versions = VersionCache(byteLimit: versionBytes, countLimit: 256)
    }

    /// How many versions are kept.
    public var versionCount: Int { versions.count }

    /// The memory of the kept versions in bytes; tiles that they share count once, but for an excess that is put
    /// right before a version is given up for it.
    public var versionBytes: Int { versions.byteCount }

    /// All memory that is kept, in bytes, about.
    public var byteCount: Int { versions.byteCount + 64 * boxes.count }

    /// The picture of the layers, bottom to top.
    ///
    /// - Parameter stroke: asked for the strokes that have to be drawn, by their place in `layers`, bottom to top, each
    ///   before it is drawn. May throw to end the drawing there; what is drawn by then is kept, so that the next
    ///   picture goes on from it.
    /// - Throws: what `stroke` throws.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], stroke: (Int) throws(Failure) -> PaintedStroke
    ) throws(Failure) -> Canvas {
        guard let top = layers.last else { return blank }
        if let kept = versions.version(top.digest) {
            show(kept, layers[...])
            return kept
        }
        let known = layers.lastIndex { versions.contains($0.digest) }.map { $0 + 1 } ?? 0
        let base = known == 0 ? blank : versions.version(layers[known - 1].digest) ?? blank
        var painter = StrokePainter(canvasWidth: blank.width, canvasHeight: blank.height, scale: scale)
        if let patched = try patch(layers, base: base, known: known, with: &painter, stroke: stroke) {
            versions.keep(patched, digest: top.digest, beside: picture)
            show(patched, layers[...])
            return patched
        }
        return try draw(layers, from: known, on: base, with: &painter, stroke: stroke)
    }

    /// Draws all strokes but the `known` lowest ones, whose picture is `base`.
    private mutating func draw<Failure: Error>(
        _ layers: [BoardLayer], from known: Int, on base: Canvas, with painter: inout StrokePainter,
        stroke: (Int) throws(Failure) -> PaintedStroke
    ) throws(Failure) -> Canvas {
        var canvas = base
        var kept = base
        for index in known..<layers.count {
            let next: PaintedStroke
            do {
                next = try stroke(index)
            } catch {
                if index > known { versions.keep(canvas, digest: layers[index - 1].digest, beside: kept) }
                show(canvas, layers[..<index])
                throw error
            }
            boxes[layers[index].id] = painter.draw(next, on: &canvas, within: nil)
            strokesDrawn += 1
            if index + Self.keptOnTheWay >= layers.count {
                versions.keep(canvas, digest: layers[index].digest, beside: kept)
                kept = canvas
            }
        }
        show(canvas, layers[...])
        return canvas
    }

    private mutating func show(_ canvas: Canvas, _ layers: ArraySlice<BoardLayer>) {
        picture = canvas
        shown = layers.map(\.id)
        // Strokes that are gone for good must not pile up; those of an undone one may be wanted again.
        if boxes.count > 2 * layers.count + 256 {
            let visible = Set(shown)
            boxes = boxes.filter { visible.contains($0.key) }
        }
    }
}
