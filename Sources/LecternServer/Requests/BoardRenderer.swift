import Dispatch
import Locking
import PNG
import Raster
import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// Renders and encodes the boards of rooms, and caches canvases and pictures as long as memory allows.
///
/// Safe from any thread; different rooms are rendered in parallel, one room on one thread at a time. Bounded: caches and
/// renderings under way, of all rooms and threads, take at most the given bytes together. Before a rendering, the least
/// recently used canvases are evicted to make space for it; if that is not enough it waits until others are done, in the
/// order in which they came. A picture is rendered at the width that is asked for: each width of a room has a canvas of its own.
/// An evicted canvas is rendered again to the same pixels. A board of more pixels than fit the
/// bytes, beside its lassos and images, is rendered smaller. A board of more points than fit them is not rendered as SVG,
/// PDF or InkML. Lassos that would make more of a page than a quarter of the bytes holds are not applied
/// (``DisplayList/Limits``).
final class BoardRenderer: Sendable {
    enum Failure: Error {
        /// The picture is no longer wanted.
        case cancelled
        /// The board has too many points for this format.
        case tooLarge
    }

    /// Checks whether a rendering is still wanted.
    struct Interest {
        /// Called before each stroke. On false the rendering stops; the strokes drawn so far are kept.
        var isWanted: () -> Bool = { true }
        /// Called some hundred times a second during a long stroke, with the index of its operation. On false the stroke is
        /// dropped.
        var isStrokeWanted: (UInt64) -> Bool = { _ in true }
    }

    private struct Painting {
        var painter: BoardPainter
        /// What lassos have made of its pages.
        var scenes: SceneCache
        let size: BoardSize
        let canvas: CanvasSize
        var lastUse: Instant
    }

    /// Which pictures share a canvas.
    private struct CanvasKey: Hashable {
        let room: RoomIncarnation
        let width: Int
        let height: Int
    }

    private struct State {
        var paintings: [CanvasKey: Painting] = [:]
        var images: ImageCache
        /// Bytes reserved for renderings under way.
        var reserved = 0
        /// Renderings that wait for memory, the first one first. No other begins before it: a large one would wait for ever.
        var waiting: [DispatchSemaphore] = []
        /// The most bytes ever in use.
        var most = 0

        var byteCount: Int { usage.total }

        var usage: CanvasUsage {
            var usage = CanvasUsage(files: images.byteCount, underWay: reserved)
            for painting in paintings.values {
                let tiles = painting.painter.tileBytes
                usage.tiles += tiles
                usage.versions += painting.painter.byteCount - tiles
                usage.scenes += painting.scenes.byteCount
            }
            return usage
        }

        /// Evicts canvases until at most `bytes` are in use or `count` canvases are left.
        mutating func shrink(to bytes: Int, keeping count: Int) {
            while byteCount > bytes, paintings.count > count,
                let oldest = paintings.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                paintings[oldest.key] = nil
            }
            most = max(most, byteCount)
        }
    }

    private let strokes: StrokeSource
    private let scale: Double
    private let byteLimit: Int
    private let state: Locked<State>
    private let countSkippedLassos: @Sendable (Int) -> Void

    /// Bytes of board versions that a room's painter may keep; it keeps one canvas in any case.
    private var versionBytes: Int { byteLimit / 8 }
    /// Pixels of a canvas at most, whatever size a client gives its board.
    private var mostPixels: Int { min(1 << 24, byteLimit / 32) }
    /// Pixels of a text's box at most while it is drawn, one at a time; larger ones are less sharp.
    private var mostTextPixels: Int { min(TextSource.mostPixels, byteLimit / 64) }
    /// Bytes that each takes: its coverage, a copy, and its colours.
    private static let bytesOfTextPixel = 6
    /// Pixels of an encoded picture at most.
    private var mostPicturePixels: Int { byteLimit / 16 }
    /// What lassos may make of a page.
    private var sceneLimits: DisplayList.Limits { DisplayList.Limits(bytes: byteLimit / 4) }

    /// - Parameters:
    ///   - byteLimit: bytes of canvases and encoded pictures, of all rooms and threads; an eighth of it is for encoded
    ///     pictures.
    ///   - countSkippedLassos: called with the number of lassos and erasers that a page is cut without, on any thread.
    init(
        _ configuration: ServerConfiguration, byteLimit: Int,
        countSkippedLassos: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.countSkippedLassos = countSkippedLassos
        strokes = StrokeSource(configuration)
        scale = configuration.canvasScale
        self.byteLimit = byteLimit
        state = Locked(State(images: ImageCache(byteLimit: byteLimit / 8)))
    }

    /// Bytes in use, about: canvases, encoded pictures and reservations of renderings under way.
    var byteCount: Int { usage.total }

    /// The same by what it is.
    var usage: CanvasUsage { state.withLock { $0.usage } }

    /// Renderings that wait for memory, for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The most bytes ever in use, for tests.
    var mostBytes: Int { state.withLock { $0.most } }

    /// Whether the caches are empty.
    var isEmpty: Bool { state.withLock { $0.paintings.isEmpty && $0.images.isEmpty } }

    /// Number of strokes, areas and images drawn for the cached canvases.
    var strokesDrawn: Int { state.withLock { $0.paintings.values.reduce(0) { $0 + $1.painter.layersDrawn } } }

    /// The pages of assets that a picture of a board shows, each once, the lowest first, at the width that it needs; at lower
    /// ones where all together would take more than a quarter of the memory.
    ///
    /// O(visible entries) of pages with images.
    func images(of board: Board, _ form: PictureForm) -> [PageImageCache.Key] {
        guard form.format != .inkml else { return [] }
        var places: [ImageSource: Int] = [:]
        var shown: [(source: ImageSource, image: PlacedImage)] = []
        for page in form.pages(of: board) {
            let entries = board.content(of: page).images > 0 ? Array(board.visible(on: page)) : []
            let slide = form.paper(of: page, on: board)?.image.map { [$0] } ?? []
            for image in slide + entries.compactMap({ strokes.image($0, on: board.size) }) {
                guard let source = image.asset else { continue }
                if let place = places[source] {
                    if shown[place].image.width < image.width { shown[place].image = image }
                } else if shown.count < Self.mostImages {
                    places[source] = shown.count
                    shown.append((source, image))
                }
            }
        }
        // Documents are looked at larger than the board is.
        var scale = form.format == .png ? view(of: board.size, form).canvas.scale : 2
        func keys() -> [PageImageCache.Key] {
            shown.map {
                PageImageCache.Key(source: $0.source, width: PlacedImage.fetchedWidth(for: $0.image.width * scale))
            }
        }
        func bytes(_ keys: [PageImageCache.Key]) -> Double {
            zip(keys, shown).reduce(0) { sum, image in
                let width = Double(image.0.width)
                let placed = image.1.image
                return sum + 4 * width * max(width * placed.height / max(placed.width, 1e-9), 1)
            }
        }
        var wanted = keys()
        while bytes(wanted) > Double(byteLimit / 4),
            wanted.contains(where: { $0.width > PlacedImage.fetchedWidths.lowerBound })
        {
            scale *= 0.75
            wanted = keys()
        }
        return wanted
    }

    /// Different pages of assets in a picture; what is beyond is drawn as frames.
    private static let mostImages = 256

    /// The picture of a board. Waits until there is memory to render it.
    ///
    /// - Parameters:
    ///   - slowest: the position of the room's cursor that is farthest behind. Canvases that all cursors have passed are
    ///     not kept (``BoardPosition``).
    ///   - images: the pixels that are there of ``images(of:_:)``.
    func picture(
        of board: Board, slowest: UInt64 = 0, _ room: RoomIncarnation, _ form: PictureForm,
        images: PageImageSet = .none, at now: Instant, while interest: Interest = Interest()
    ) throws(Failure) -> [UInt8] {
        let pages = form.pages(of: board)
        var digest = BoardDigest.empty
        for page in pages { digest.add(board.visible(on: page).digest) }
        let key = ImageCache.Key(
            room: room, digest: digest, pages: pages, papers: pages.map { form.paper(of: $0, on: board) },
            images: images.hash,
            size: SIMD2(board.size.width, board.size.height), form: form)
        if let file = state.withLock({ $0.images.image(key, at: now) }) { return file }
        return switch form.format {
        case .png:
            try png(
                of: board, BoardPosition(page: pages[0], index: board.index, slowest: slowest), images, key, at: now,
                while: interest)
        case .svg, .pdf, .inkml: try document(of: board, pages, images, key, at: now, while: interest)
        }
    }

    private func png(
        of board: Board, _ position: BoardPosition, _ images: PageImageSet, _ key: ImageCache.Key, at now: Instant,
        while interest: Interest
    ) throws(Failure) -> [UInt8] {
        let texts = board.content(of: position.page).texts > 0 ? Self.bytesOfTextPixel * mostTextPixels : 0
        let (scenes, copies) = (
            sceneBytes(of: position.page, on: board), Self.copiesOfImages * images.byteCount + texts
        )
        let view = view(of: board.size, key.form, beside: scenes + copies)
        let size = view.canvas
        let bytes = bytesToDraw(size, scenes: scenes, images: copies)
        // The canvas of a part is not kept: another part would have no use for it.
        let place =
            view.part == nil ? CanvasKey(room: key.room, width: size.width, height: size.height) : nil
        // Removed from the table while in use, so that nothing is copied; its bytes are part of the reservation.
        var painting = reserve(bytes, for: place) ?? blank(board.size, view, at: now)
        if painting.size != board.size || painting.canvas != size { painting = blank(board.size, view, at: now) }
        painting.lastUse = now
        var made: [UInt8]?
        defer { finish(place.map { ($0, painting) }, made, key, at: now, reserved: bytes) }
        let canvas = try canvas(of: board, position, images.pixels, by: &painting, while: interest)
        let ink = view.part.map { canvas.cropped(to: $0) } ?? canvas
        let paper = key.form.paper(of: position.page, on: board)?.canvas(
            size, part: view.part, images: images.pixels)
        let file = PNGEncoder.encode(
            paper.map { ink.over($0) } ?? ink,
            background: key.form.background == .transparent ? .transparent : .white)
        made = file
        return file
    }

    /// Bytes that a point takes while its board becomes a document, about: decoded, as an outline, written.
    static let documentBytesOfPoint = 512
    /// How often the pixels of an image are in memory while they are drawn, beside the cache that they come from: averaged, or
    /// as the library of documents takes them, and written.
    private static let copiesOfImages = 2
    /// Bytes that a document takes at least, while it is made.
    private static let leastDocumentBytes = 1 << 20

    /// The SVG, PDF or InkML of a board: all of its strokes each time, for documents share nothing. Strokes are scaled to the
    /// board, coordinates to the width.
    private func document(
        of board: Board, _ pages: [Int], _ images: PageImageSet, _ key: ImageCache.Key, at now: Instant,
        while interest: Interest
    ) throws(Failure) -> [UInt8] {
        let visible = pages.map { board.visible(on: $0) }
        let points = visible.joined().reduce(0) { $0 + max($1.pointCount, 8) }
        let bytes =
            Self.leastDocumentBytes + points * Self.documentBytesOfPoint
            + (pages.map { sceneBytes(of: $0, on: board) }.max() ?? 0) + Self.copiesOfImages * images.byteCount
        guard bytes <= byteLimit else { throw .tooLarge }
        reserve(bytes)
        var made: [UInt8]?
        defer { finish(nil, made, key, at: now, reserved: bytes) }
        let file =
            switch key.form.format {
            case .inkml: try ink(board, pages, while: interest.isWanted)
            default: try vectors(visible, key.papers, board.size, images.pixels, key.form, while: interest.isWanted)
            }
        guard file.count <= byteLimit / 8 else { throw .tooLarge }
        made = file
        return file
    }

    private func vectors(
        _ pages: [VisibleStrokes], _ papers: [PagePaper?], _ size: BoardSize, _ images: PageImages,
        _ form: PictureForm,
        while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8] {
        var drawings: [BoardDrawing] = []
        for (visible, paper) in zip(pages, papers) {
            var entries: [PageEntry] = []
            entries.reserveCapacity(visible.count)
            for entry in visible {
                guard isWanted() else { throw .cancelled }
                if let content = strokes.content(entry, on: size) {
                    entries.append(PageEntry(id: entry.index, content))
                }
            }
            drawings.append(
                BoardDrawing(width: size.width, height: size.height, entries: entries, images: images, paper: paper))
        }
        let scale = form.width.map { Double($0) / size.width } ?? 1
        return form.format == .svg
            ? try svg(drawings[0], scale, form.background, while: isWanted)
            : try pdf(drawings, scale, while: isWanted)
    }

    private func ink(_ board: Board, _ pages: [Int], while isWanted: () -> Bool) throws(Failure) -> [UInt8] {
        do throws(DrawingStopped) {
            return try BoardInk(strokes).inkML(of: board, pages: pages, byteLimit: byteLimit / 8, while: isWanted)
        } catch {
            throw error == .tooLarge ? .tooLarge : .cancelled
        }
    }

    private func svg(
        _ drawing: BoardDrawing, _ scale: Double, _ background: PictureBackground, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8] {
        do throws(DrawingStopped) {
            return try SVGRenderer.render(
                drawing, background: background == .transparent ? .transparent : .white, scale: scale,
                byteLimit: byteLimit / 8, limits: sceneLimits, while: isWanted)
        } catch {
            throw error == .tooLarge ? .tooLarge : .cancelled
        }
    }

    private func pdf(
        _ drawings: [BoardDrawing], _ scale: Double, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8] {
        let file: [UInt8]?
        do throws(PDFRenderer.Failure) {
            file = try PDFRenderer.render(drawings, scale: scale, limits: sceneLimits, while: isWanted)
        } catch {
            // Cairo fails for lack of memory alone.
            throw .tooLarge
        }
        guard let file else { throw .cancelled }
        return file
    }

    /// Evicts canvases and pictures unused since `instant`.
    func evict(unusedSince instant: Instant) {
        state.withLock { state in
            state.paintings = state.paintings.filter { $0.value.lastUse >= instant }
            state.images.evict(unusedSince: instant)
        }
    }

    /// Drops the canvases and pictures of a room.
    func forget(_ room: RoomID) {
        state.withLock { state in
            state.paintings = state.paintings.filter { $0.key.room.room != room }
            state.images.removeAll(of: room)
        }
    }

    private func canvas(
        of board: Board, _ position: BoardPosition, _ images: PageImages, by painting: inout Painting,
        while interest: Interest
    ) throws(Failure) -> Canvas {
        let content = board.content(of: position.page)
        let entries = VisibleEntries(
            strokes: Array(board.visible(on: position.page)), size: board.size, source: strokes)
        let scene =
            content.lassos > 0
            ? try painting.scenes.scene(
                of: entries, longerSide: board.size.longerSide, limits: sceneLimits, skipped: countSkippedLassos
            ) { () throws(Failure) in
                guard interest.isWanted() else { throw .cancelled }
            } : PageScene(longerSide: board.size.longerSide, limits: sceneLimits)
        let picture = PagePicture(
            scene: scene, entries: entries, hasImages: content.images + content.texts > 0,
            images: images.drawingTexts(scale: painting.canvas.scale, most: mostTextPixels))
        return try painting.painter.canvas(of: picture.layers, at: position) { (place) throws(Failure) in
            guard interest.isWanted() else { throw .cancelled }
            return picture.content(of: place)
        } check: { (place) throws(Failure) in
            guard interest.isStrokeWanted(entries.id(picture.entry(of: place))) else { throw .cancelled }
        }
    }

    private func blank(_ size: BoardSize, _ view: View, at now: Instant) -> Painting {
        let canvas = view.canvas
        let painter = BoardPainter(
            width: canvas.width, height: canvas.height, scale: canvas.scale, versionBytes: versionBytes,
            viewport: view.part)
        return Painting(
            painter: painter, scenes: SceneCache(byteLimit: sceneLimits.bytes / 2), size: size, canvas: canvas,
            lastUse: now)
    }

    /// A canvas of a whole board, and what a picture shows of it; nil for all.
    private struct View {
        let canvas: CanvasSize
        var part: PixelRectangle?
    }

    /// What a picture shows: at the width that is asked for, or at the configured scale; smaller where memory bounds it. A part
    /// begins at the nearest pixel of the whole, and ends with the board.
    /// - Parameter bytes: what else is in memory while the canvas is drawn.
    private func view(of size: BoardSize, _ form: PictureForm, beside bytes: Int = 0) -> View {
        guard let part = form.part else { return View(canvas: canvasSize(size, width: form.width, beside: bytes)) }
        // While a stroke is drawn it takes the memory of its box on the whole canvas, wherever the part lies.
        let scale = form.width.map { Double($0) / Double(part.width) } ?? scale
        let canvas = canvasSize(size, scale: scale, beside: bytes)
        func pixels(from start: Int, _ length: Int, below end: Int) -> Range<Int> {
            let first = min(Int((Double(start) * canvas.scale).rounded()), end - 1)
            return first..<min(first + CanvasSize.side(Double(length) * canvas.scale), end)
        }
        let x = pixels(from: part.x, part.width, below: canvas.width)
        let y = pixels(from: part.y, part.height, below: canvas.height)
        return View(
            canvas: canvas, part: PixelRectangle(x: x.lowerBound, y: y.lowerBound, width: x.count, height: y.count))
    }

    /// - Parameters:
    ///   - width: in pixels; the scale's unless said.
    ///   - scale: pixels a board unit; the configured one unless said.
    private func canvasSize(
        _ size: BoardSize, width: Int? = nil, scale wanted: Double? = nil, beside bytes: Int = 0
    ) -> CanvasSize {
        let left = max(1, (byteLimit - versionBytes - bytes) / Self.bytesOfDrawnPixel)
        var pixels = min(width == nil && wanted == nil ? mostPixels : mostPicturePixels, left)
        while true {
            var canvas = CanvasSize(
                boardWidth: size.width, boardHeight: size.height, scale: wanted ?? scale, mostPixels: pixels)
            if let width {
                let most = (Double(pixels) * size.width / size.height).squareRoot()
                let across = Int(max(min(Double(width), most), 1))
                canvas = CanvasSize(boardWidth: size.width, boardHeight: size.height, width: across)
            }
            // It may have a row and a column more.
            if canvas.width * canvas.height <= left || pixels <= 1 { return canvas }
            pixels = pixels * 7 / 8
        }
    }

    /// Bytes of a canvas, the one that it starts from, and scratch memory, for each pixel.
    private static let bytesOfDrawnPixel = 21

    /// Bytes that rendering and encoding take at most: the painter's versions, what lassos have made, and the larger of two
    /// phases: the canvas, the one it starts from, scratch memory and the images; then the canvas, its paper, both together
    /// and the file.
    private func bytesToDraw(_ size: CanvasSize, scenes: Int, images: Int) -> Int {
        let pixels = size.width * size.height
        return max(versionBytes, 4 * pixels) + scenes + max(Self.bytesOfDrawnPixel * pixels + images, 20 * pixels)
    }

    /// Bytes that cutting takes for each point of a page's entries, about: outlines, their parts, and those of one in work.
    private static let sceneBytesOfPoint = 768

    /// Bytes that what lassos make of a page may take, about; none where there are none. Copies of the page count as the
    /// points of the lasso that has made them.
    private func sceneBytes(of page: Int, on board: Board) -> Int {
        let content = board.content(of: page)
        return content.lassos > 0 ? min(sceneLimits.bytes, 1 << 20 + content.points * Self.sceneBytesOfPoint) : 0
    }

    /// Waits until there is memory for a rendering, and removes its painting from the table.
    @discardableResult
    private func reserve(_ bytes: Int, for key: CanvasKey? = nil) -> Painting? {
        let turn = DispatchSemaphore(value: 0)
        while true {
            let (painting, isReserved) = state.withLock { state -> (Painting?, Bool) in
                if let first = state.waiting.first, first !== turn {
                    state.waiting.append(turn)
                    return (nil, false)
                }
                let painting = key.flatMap { state.paintings.removeValue(forKey: $0) }
                state.shrink(to: byteLimit - bytes, keeping: 0)
                guard state.reserved == 0 || state.byteCount + bytes <= byteLimit else {
                    if let key, let painting { state.paintings[key] = painting }
                    if state.waiting.isEmpty { state.waiting.append(turn) }
                    return (nil, false)
                }
                if !state.waiting.isEmpty { state.waiting.removeFirst() }
                state.reserved += bytes
                state.most = max(state.most, state.byteCount)
                // There may be memory for the next one, too.
                state.waiting.first?.signal()
                return (painting, true)
            }
            if isReserved { return painting }
            turn.wait()
        }
    }

    /// Puts a painting and its file back in place of the reservation.
    private func finish(
        _ painting: (place: CanvasKey, Painting)?, _ file: [UInt8]?, _ key: ImageCache.Key, at now: Instant,
        reserved bytes: Int
    ) {
        state.withLock { state in
            state.reserved -= bytes
            if let painting { state.paintings[painting.place] = painting.1 }
            if let file { state.images.insert(file, key, at: now) }
            state.shrink(to: byteLimit, keeping: 1)
            state.waiting.first?.signal()
        }
    }
}

/// Bytes that pictures of boards take, about, of `canvas.memory`.
struct CanvasUsage: Sendable {
    /// Pixels of kept canvases.
    var tiles = 0
    /// What knows of the versions of canvases which tiles they have, and where their layers are.
    var versions = 0
    /// What lassos have made of pages.
    var scenes = 0
    /// Encoded pictures.
    var files = 0
    /// Reserved for renderings under way, the canvases that they begin with among it.
    var underWay = 0

    var total: Int { tiles + versions + scenes + files + underWay }
}
