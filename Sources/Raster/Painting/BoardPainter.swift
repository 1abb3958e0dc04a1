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
/// The pixels are the same in each case. Use one painter a room, on one thread at a time. Memory: the kept versions
/// (bounded by `versionBytes`; one canvas is always kept), 64 bytes a visible layer, and while it draws that of a
/// ``StrokePainter``. Versions that all cursors have passed are kept for undo, redo and looks back only, and take at most
/// the bytes of one canvas.
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
    /// A repainting that was ended half way.
    private var interrupted: Patch?
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
    public var shownCount: Int { interrupted?.shownCount ?? shown.count }

    /// The number of kept versions.
    public var versionCount: Int { versions.count }

    /// The memory of the kept versions in bytes. Shared tiles count once.
    public var versionBytes: Int { versions.byteCount }

    /// The part of it that is painted tiles.
    public var tileBytes: Int { versions.tileByteCount }

    /// About all memory that is kept, in bytes.
    public var byteCount: Int { versions.byteCount + prefixes.byteCount + 64 * boxes.count }

    /// The picture of the layers, bottom to top.
    ///
    /// - Parameters:
    ///   - position: which board it is, and how far the cursors are. Versions that they have passed are discarded.
    ///   - content: returns what a layer shows, by its index in `layers`; called once for those that have to be drawn, and
    ///     for some whose place has to be known. May throw to end the drawing: the layers drawn so far are kept for the next
    ///     picture.
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
        let kept = layers.lastIndex { versions.contains($0.digest) || prefixes[$0.digest] != nil }
        let known = kept.map { $0 + 1 } ?? 0
        let digest = known > 0 ? layers[known - 1].digest : 0
        let base = known == 0 ? blank : versions.version(digest) ?? prefixes[digest] ?? blank
        var drawing = Drawing(
            layers: layers, painter: StrokePainter(canvasWidth: blank.width, canvasHeight: blank.height, scale: scale))
        let canvas: Canvas
        if let patched = try patch(&drawing, base: base, known: known, content: content, check: check) {
            canvas = patched
        } else {
            canvas = try draw(&drawing, from: known, on: base, content: content, check: check)
        }
        versions.keep(canvas, digest: top.digest, at: position)
        versions.discardPast(slowest: position.slowest)
        show(canvas, layers[...])
        return canvas
    }

    /// The picture of the layers; `content` may end the drawing between layers.
    public mutating func canvas<Failure: Error>(
        of layers: [BoardLayer], at position: BoardPosition = BoardPosition(),
        content: (Int) throws(Failure) -> LayerContent
    ) throws(Failure) -> Canvas {
        try canvas(of: layers, at: position, content: content) { _ throws(Failure) in }
    }

    /// Draws all layers but the `known` lowest ones, whose picture is `base`. Keeps some of the pictures before the last.
    private mutating func draw<Failure: Error>(
        _ drawing: inout Drawing, from known: Int, on base: Canvas,
        content: (Int) throws(Failure) -> LayerContent, check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas {
        let layers = drawing.layers
        var canvas = base
        for index in known..<layers.count {
            do throws(Failure) {
                try draw(index, of: &drawing, on: &canvas, within: nil, content: content, check: check)
            } catch {
                if index > known { versions.keep(canvas, digest: layers[index - 1].digest) }
                show(canvas, layers[..<index])
                throw error
            }
            let isPrefix = index + Self.keptPrefixes >= layers.count && index + 1 < layers.count
            if isPrefix { versions.keep(canvas, digest: layers[index].digest) }
            prefixes.keep(canvas, of: index + 1, digest: layers[index].digest)
        }
        return canvas
    }

    /// Draws one of the layers, on some of the tiles or all.
    private mutating func draw<Failure: Error>(
        _ place: Int, of drawing: inout Drawing, on canvas: inout Canvas, within part: TileSet?,
        content: (Int) throws(Failure) -> LayerContent, check: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        let shown: LayerContent
        if let known = drawing.contents.removeValue(forKey: place) { shown = known } else { shown = try content(place) }
        if let window {
            // What is not seen need not be rasterized.
            let box = drawing.painter.box(of: shown, on: blank)
            guard window.touches(box) else {
                boxes[drawing.layers[place].id] = box
                return
            }
        }
        let box = drawing.painter.draw(shown, on: &canvas, within: part ?? window) {
            do throws(Failure) {
                try check(place)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        boxes[drawing.layers[place].id] = box
        layersDrawn += 1
    }

    /// Repaints the tiles of layers that came or went since the last picture, unless drawing all layers above the
    /// `known` lowest ones, whose picture is `base`, is less work. Goes on with a repainting of the same picture that was
    /// ended.
    private mutating func patch<Failure: Error>(
        _ drawing: inout Drawing, base: Canvas, known: Int, content: (Int) throws(Failure) -> LayerContent,
        check: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Canvas? {
        let layers = drawing.layers
        var patch: Patch
        if let begun = interrupted, begun.digest == layers.last?.digest {
            patch = begun
        } else {
            guard mayPatch(layers, known: known),
                let changed = try changedTiles(&drawing, below: layers.count - known, content: content)
            else {
                interrupted = nil
                return nil
            }
            // Layers from the first change on are drawn again even where the kept beginning is longer than that.
            let touching = (known..<layers.count).filter { index in
                boxes[layers[index].id].map(changed.touches) ?? true
            }
            guard touching.count < layers.count - known else {
                interrupted = nil
                return nil
            }
            var canvas = picture
            for index in changed.indices { canvas.tiles[index] = base.tiles[index] }
            patch = Patch(digest: layers.last?.digest ?? 0, canvas: canvas, changed: changed, touching: touching[...])
        }
        interrupted = nil
        while let index = patch.touching.first {
            do throws(Failure) {
                try draw(index, of: &drawing, on: &patch.canvas, within: patch.changed, content: content, check: check)
            } catch {
                interrupted = patch
                throw error
            }
            patch.touching.removeFirst()
        }
        return patch.canvas
    }

    /// Whether it is worth a look which layers came or went: not where they are many, and more than are to be drawn.
    private func mayPatch(_ layers: [BoardLayer], known: Int) -> Bool {
        let changed = abs(shown.count - layers.count)
        return changed < Self.mostPatched || changed < layers.count - known
    }

    /// The tiles of the layers that are either in the list or in the last picture. `nil` when the order has changed, when a
    /// layer that went was never drawn here, when as many as `limit` came whose place is not known, or when layers came on
    /// top of all others: they only have to be drawn.
    private mutating func changedTiles<Failure: Error>(
        _ drawing: inout Drawing, below limit: Int, content: (Int) throws(Failure) -> LayerContent
    ) throws(Failure) -> TileSet? {
        let layers = drawing.layers
        if layers.count > shown.count, layers.lazy.map({ $0.id }).starts(with: shown),
            limit <= layers.count - shown.count || layers[shown.count...].contains(where: { boxes[$0.id] == nil })
        {
            return nil
        }
        let before = Set(shown)
        let now = Set(layers.lazy.map { $0.id })
        guard shown.filter(now.contains) == layers.map({ $0.id }).filter(before.contains) else { return nil }
        let unknown = layers.indices.filter { boxes[layers[$0].id] == nil }
        guard unknown.count < limit else { return nil }
        for place in unknown {
            let content = try content(place)
            boxes[layers[place].id] = drawing.painter.box(of: content, on: blank)
            drawing.contents[place] = content
        }
        limitBoxes(keeping: now)
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
    private mutating func limitBoxes(keeping others: Set<UInt64>) {
        guard boxes.count > 2 * (shown.count + others.count) + 256 else { return }
        let visible = Set(shown)
        boxes = boxes.filter { visible.contains($0.key) || others.contains($0.key) }
    }

    /// A repainting under way.
    private struct Patch {
        /// Of the picture.
        let digest: UInt64
        var canvas: Canvas
        let changed: TileSet
        /// The layers that are left to draw.
        var touching: ArraySlice<Int>

        /// Of the layers below the first one that is left, about.
        var shownCount: Int { touching.first ?? 0 }
    }

    /// What one picture is drawn with.
    private struct Drawing {
        let layers: [BoardLayer]
        var painter: StrokePainter
        /// What layers show that have been asked for, and may have to be drawn, by their index.
        var contents: [Int: LayerContent] = [:]
    }
}
