/// A layer of a board's visible list, as the painter knows it: a stroke, or a part of what a lasso has cut or moved.
public struct BoardLayer: Sendable, Hashable {
    /// Identifies what the layer shows: layers with the same id look the same. Of a stroke that nothing has cut it is the
    /// index of its operation.
    public var id: UInt64
    /// Identifies the picture: a digest of all visible layers from the lowest one up to and including this one.
    public var digest: UInt64

    /// Makes a layer.
    @inlinable
    public init(id: UInt64, digest: UInt64) {
        self.id = id
        self.digest = digest
    }
}

/// Paints the visible layers of a board, as few of them as possible.
///
/// A picture is known by the digest of its visible list, so that every cursor on a room's log may ask for its own board:
/// what was painted for one cursor is there for the others, which share its tiles. In this order:
/// - a picture that is kept is returned: undo and redo of the newest stroke or lasso draw nothing;
/// - where a few layers came or went, only the tiles that they touch are painted again: those of what a lasso has cut, and
///   of the parts that came in its place;
/// - else the layers above the longest kept prefix of the list are drawn: for a new stroke that one.
///
/// The pixels are the same in each case. A drawing that is ended goes on where it was, in as many calls as it takes.
/// Use one painter a room, on one thread at a time. Memory: the kept versions (bounded by `versionBytes`; one canvas is
/// always kept), 64 bytes a visible layer, a canvas of a drawing that was ended, and while it draws that of a
/// ``StrokePainter``. Versions that all cursors have passed are kept for undo, redo and looks back only, and take at
/// most the bytes of one canvas.
public struct BoardPainter: Sendable {
    /// While many layers are drawn at once, the pictures of the last so many are kept, for the next undos.
    private static let keptPrefixes = 16
    /// So many layers may come or go until it is no longer looked for what they touch, unless more are to be drawn.
    private static let mostPatched = 512

    /// Pixels a board unit.
    public let scale: Double
    private let blank: Canvas
    private(set) var versions: VersionCache
    private var prefixes: PrefixCache
    /// The pixels that each layer may touch, by its id.
    private var boxes: [UInt64: PixelBox] = [:]
    /// The ids of the layers of the last picture.
    private var shown: [UInt64] = []
    private var picture: Canvas
    /// The tiles that are drawn; nil for all.
    private let window: TileSet?
    /// A drawing that was ended half way. Its canvas becomes a version when another picture is drawn.
    private var unfinished: Drawing?
    /// The number of layers drawn so far, whole or in part.
    public private(set) var layersDrawn = 0

    /// Makes a painter for canvases of `width` × `height` pixels, `scale` pixels a board unit.
    ///
    /// - Parameters:
    ///   - versionBytes: bytes of kept versions.
    ///   - prefixBytes: bytes of pictures of the lowest layers that are kept besides, some hundred layers apart: any list that
    ///     begins with them is drawn from there. For a reader who goes back and forth on a long log.
    ///   - viewport: what is seen of the canvas; all of it unless said. Tiles beyond it stay without memory, and its pixels
    ///     are those of the whole. While a stroke is drawn, it takes the memory of its box on the whole canvas.
    public init(
        width: Int, height: Int, scale: Double = 1, versionBytes: Int = 64 << 20, prefixBytes: Int = 0,
        viewport: PixelRectangle? = nil
    ) {
        self.scale = scale
        blank = Canvas(width: width, height: height)
        if let viewport {
            var tiles = TileSet(of: blank)
            tiles.insert(PixelBox(viewport, on: blank))
            window = tiles
        } else {
            window = nil
        }
        picture = blank
        prefixes = PrefixCache(byteLimit: prefixBytes)
        versions = VersionCache(
            byteLimit: versionBytes, countLimit: 256, pastByteLimit: blank.tiles.count * Tile.byteCount)
    }

    /// How many layers the last picture shows; fewer than all where its drawing was ended.
    public var shownCount: Int { unfinished?.left.first ?? shown.count }

    /// The pixels of the canvas that a layer may touch, by its id; nil where that is not known.
    public func box(ofLayer id: UInt64) -> PixelRectangle? {
        boxes[id].map { PixelRectangle(x: $0.minX, y: $0.minY, width: $0.maxX - $0.minX, height: $0.maxY - $0.minY) }
    }

    /// The memory of the kept versions in bytes. Shared tiles count once.
    public var versionBytes: Int { versions.byteCount }

    /// The part of it that is painted tiles.
    public var tileBytes: Int { versions.tileByteCount }

    /// About all memory that is kept, in bytes.
    public var byteCount: Int {
        versions.byteCount + prefixes.byteCount + 64 * boxes.count + (unfinished?.canvas.byteCount ?? 0)
    }

    /// The picture of the layers, bottom to top.
    ///
    /// - Parameters:
    ///   - position: which board it is, and how far the cursors are. Versions that they have passed are discarded.
    ///   - content: returns what a layer shows, by its index in `layers`; called once for those that have to be drawn, and
    ///     for some whose place has to be known. May throw to end the drawing: the layers drawn so far are kept, and the next
    ///     call goes on with the others.
    ///   - check: called some hundred times a second while a layer takes long, with its index. May throw to end the
    ///     drawing: nothing is kept of that layer.
    /// - Throws: what `content` and `check` throw.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], at position: BoardPosition = BoardPosition(),
        content: (Int) throws(Failure) -> LayerContent, check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas {
        guard let top = layers.last else { return blank }
        if let kept = versions.version(top.digest, at: position) {
            show(kept, layers[...])
            versions.discardPast(slowest: position.slowest)
            return kept
        }
        var drawing: Drawing
        if unfinished?.digest == top.digest, let begun = unfinished.take() {
            drawing = begun
        } else {
            keepUnfinished()
            drawing = try begin(layers, content: content)
        }
        var painter = StrokePainter(canvasWidth: blank.width, canvasHeight: blank.height, scale: scale)
        do throws(Failure) {
            while let place = drawing.left.first {
                try draw(place, of: &drawing, with: &painter, content: content, check: check)
                drawing.left.removeFirst()
                let isPrefix = drawing.changed == nil && place + Self.keptPrefixes >= layers.count
                if isPrefix, place + 1 < layers.count { versions.keep(drawing.canvas, digest: layers[place].digest) }
                if drawing.changed == nil { prefixes.keep(drawing.canvas, of: place + 1, digest: layers[place].digest) }
            }
        } catch {
            unfinished = drawing
            throw error
        }
        versions.keep(drawing.canvas, digest: top.digest, at: position)
        versions.discardPast(slowest: position.slowest)
        show(drawing.canvas, layers[...])
        return drawing.canvas
    }

    /// The picture of the layers; `content` may end the drawing between layers.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], at position: BoardPosition = BoardPosition(),
        content: (Int) throws(Failure) -> LayerContent
    ) throws(Failure) -> Canvas {
        try canvas(of: layers, at: position, content: content) { _ throws(Failure) in }
    }

    private mutating func draw<Failure: Error>(
        _ place: Int, of drawing: inout Drawing, with painter: inout StrokePainter,
        content: (Int) throws(Failure) -> LayerContent, check: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        let id = drawing.layers[place].id
        let shown: LayerContent
        if let known = drawing.contents.removeValue(forKey: place) { shown = known } else { shown = try content(place) }
        if let window {
            // What is not seen need not be rasterized.
            let box = painter.box(of: shown, on: blank)
            guard window.touches(box) else {
                boxes[id] = box
                return
            }
        }
        let box = painter.draw(shown, on: &drawing.canvas, within: drawing.changed ?? window) {
            do throws(Failure) {
                try check(place)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        boxes[id] = box
        layersDrawn += 1
    }

    /// Begins to repaint the tiles of layers that came or went since the last picture, unless drawing all layers above the
    /// longest kept prefix is less work.
    private mutating func begin<Failure: Error>(
        _ layers: [BoardLayer], content: (Int) throws(Failure) -> LayerContent
    ) throws(Failure) -> Drawing {
        let kept = layers.lastIndex { versions.contains($0.digest) || prefixes[$0.digest] != nil }
        let known = kept.map { $0 + 1 } ?? 0
        let digest = known > 0 ? layers[known - 1].digest : 0
        let base = known == 0 ? blank : versions.version(digest) ?? prefixes[digest] ?? blank
        var drawing = Drawing(layers: layers, known: known, canvas: base, left: Array(known..<layers.count)[...])
        guard mayPatch(layers, known: known), let changed = try changedTiles(&drawing, content: content) else {
            return drawing
        }
        // Layers from the first change on are drawn again even where the kept beginning is longer than that.
        let touching = drawing.left.filter { place in boxes[layers[place].id].map(changed.touches) ?? true }
        guard touching.count < drawing.left.count else { return drawing }
        drawing.canvas = picture
        for index in changed.indices { drawing.canvas.tiles[index] = base.tiles[index] }
        (drawing.changed, drawing.left) = (changed, touching[...])
        return drawing
    }

    /// Whether it is worth a look which layers came or went: not where they are many, and more than are to be drawn.
    private func mayPatch(_ layers: [BoardLayer], known: Int) -> Bool {
        let changed = abs(shown.count - layers.count)
        return changed < Self.mostPatched || changed < layers.count - known
    }

    /// Makes the layers that an ended drawing has drawn the last picture, unless it was a repainting.
    private mutating func keepUnfinished() {
        guard let drawing = unfinished.take(), drawing.changed == nil else { return }
        let drawn = drawing.left.first ?? drawing.layers.count
        guard drawn > drawing.known else { return }
        versions.keep(drawing.canvas, digest: drawing.layers[drawn - 1].digest)
        show(drawing.canvas, drawing.layers[..<drawn])
    }

    /// The tiles of the layers that are either in the list or in the last picture. `nil` when the order has changed, when a
    /// layer that went was never drawn here, when as many came whose place is not known as are to be drawn, or when layers
    /// came on top of all others: they only have to be drawn.
    private mutating func changedTiles<Failure: Error>(
        _ drawing: inout Drawing, content: (Int) throws(Failure) -> LayerContent
    ) throws(Failure) -> TileSet? {
        let layers = drawing.layers
        // Most changes are of a few layers at one place.
        let most = min(shown.count, layers.count)
        var (lowest, highest) = (0, 0)
        while lowest < most, shown[lowest] == layers[lowest].id { lowest += 1 }
        while lowest + highest < most, shown[shown.count - 1 - highest] == layers[layers.count - 1 - highest].id {
            highest += 1
        }
        let (gone, come) = (lowest..<shown.count - highest, lowest..<layers.count - highest)
        let unknown = come.filter { boxes[layers[$0].id] == nil }
        if lowest == shown.count, !unknown.isEmpty || drawing.left.count <= come.count { return nil }
        let before = Set(shown[gone])
        let now = Set(layers[come].lazy.map { $0.id })
        guard shown[gone].filter(now.contains) == layers[come].map({ $0.id }).filter(before.contains),
            unknown.count < drawing.left.count
        else { return nil }
        var painter = StrokePainter(canvasWidth: blank.width, canvasHeight: blank.height, scale: scale)
        for place in unknown {
            let content = try content(place)
            boxes[layers[place].id] = painter.box(of: content, on: blank)
            drawing.contents[place] = content
        }
        limitBoxes(keeping: layers)
        var tiles = TileSet(of: picture)
        for id in before.symmetricDifference(now) {
            guard let box = boxes[id] else { return nil }
            tiles.insert(box)
        }
        if let window { tiles.formIntersection(window) }
        return tiles
    }

    private mutating func show(_ canvas: Canvas, _ layers: ArraySlice<BoardLayer>) {
        picture = canvas
        shown = layers.map { $0.id }
        limitBoxes(keeping: [])
    }

    /// Bounds the boxes; those of undone layers are kept for a while, for redo.
    private mutating func limitBoxes(keeping layers: [BoardLayer]) {
        guard boxes.count > 2 * (shown.count + layers.count) + 256 else { return }
        let visible = Set(shown).union(layers.lazy.map { $0.id })
        boxes = boxes.filter { visible.contains($0.key) }
    }

    /// A picture that is being drawn.
    private struct Drawing {
        let layers: [BoardLayer]
        /// So many of the lowest layers were painted when it began.
        let known: Int
        /// No other canvas has its tiles while it is drawn on, or each would be copied.
        var canvas: Canvas
        /// The tiles that are repainted; nil where layers are drawn on all.
        var changed: TileSet?
        var left: ArraySlice<Int>
        /// What layers show that have been asked for, and may have to be drawn, by their index.
        var contents: [Int: LayerContent] = [:]

        /// Of the picture.
        var digest: UInt64? { layers.last?.digest }
    }
}
