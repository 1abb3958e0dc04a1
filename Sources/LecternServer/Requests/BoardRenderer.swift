import Raster
import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// Renders and encodes the boards of rooms, and keeps canvases and pictures as long as memory allows (``CanvasMemory``).
///
/// Safe from any thread; different rooms are rendered in parallel, one room on one thread at a time. A picture is rendered at the
/// width that is asked for: each width of a room has a canvas of its own. A board of more pixels than fit the bytes, beside its
/// lassos and images, is rendered smaller. A board of more points than fit them is not rendered as SVG, PDF or InkML. Lassos that
/// would make more of a page than a quarter of the bytes holds are not applied (``DisplayList/Limits``).
final class BoardRenderer: Sendable {
    /// Checks whether a rendering is still wanted.
    struct Interest {
        /// Called before each stroke. On false the rendering stops; the strokes drawn so far are kept.
        var isWanted: () -> Bool = { true }
        /// Called some hundred times a second during a long stroke, with the index of its operation. On false the stroke is
        /// dropped.
        var isStrokeWanted: (UInt64) -> Bool = { _ in true }
    }

    private let strokes: StrokeSource
    private let bounds: PictureBounds
    let memory: CanvasMemory
    private let countSkippedLassos: @Sendable (Int) -> Void

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
        bounds = PictureBounds(byteLimit: byteLimit, scale: configuration.canvasScale)
        memory = CanvasMemory(byteLimit: byteLimit)
    }

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
        var scale = form.format == .png ? bounds.view(of: board.size, form).canvas.scale : 2
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
        while bytes(wanted) > Double(bounds.byteLimit / 4),
            wanted.contains(where: { $0.width > PlacedImage.fetchedWidths.lowerBound })
        {
            scale *= 0.75
            wanted = keys()
        }
        return wanted
    }

    /// Different pages of assets in a picture, as many as a board has pages; what is beyond is drawn as frames.
    private static let mostImages = 1000

    /// The picture of a board. Waits until there is memory to render it.
    ///
    /// - Parameters:
    ///   - slowest: the position of the room's cursor that is farthest behind. Canvases that all cursors have passed are
    ///     not kept (``BoardPosition``).
    ///   - images: the pixels that are there of ``images(of:_:)``.
    /// - Throws: `.tooLarge` where the board has too many points for the format.
    func picture(
        of board: Board, slowest: UInt64 = 0, _ room: RoomIncarnation, _ form: PictureForm,
        images: PageImageSet = .none, at now: Instant, while interest: Interest = Interest()
    ) throws(DrawingStopped) -> [UInt8] {
        let pages = form.pages(of: board)
        var digest = BoardDigest.empty
        for page in pages { digest.add(board.visible(on: page).digest) }
        let key = CanvasMemory.PictureKey(
            room: room, digest: digest, pages: pages, papers: pages.map { form.paper(of: $0, on: board) },
            images: images.hash,
            size: SIMD2(board.size.width, board.size.height), form: form)
        if let file = memory.picture(key, at: now) { return file }
        return switch form.format {
        case .png:
            try png(
                of: board, BoardPosition(page: pages[0], index: board.index, slowest: slowest), images, key, at: now,
                while: interest)
        case .svg, .pdf, .inkml: try document(of: board, pages, images, key, at: now, while: interest.isWanted)
        }
    }

    private func png(
        of board: Board, _ position: BoardPosition, _ images: PageImageSet, _ key: CanvasMemory.PictureKey,
        at now: Instant,
        while interest: Interest
    ) throws(DrawingStopped) -> [UInt8] {
        let texts =
            board.content(of: position.page).texts > 0 ? PictureBounds.bytesOfTextPixel * bounds.mostTextPixels : 0
        let (scenes, copies) = (
            bounds.sceneBytes(of: position.page, on: board), Self.copiesOfImages * images.byteCount + texts
        )
        let view = bounds.view(of: board.size, key.form, beside: scenes + copies)
        let size = view.canvas
        let bytes = bounds.bytesToDraw(size, scenes: scenes, images: copies)
        // The canvas of a part is not kept: another part would have no use for it.
        let place =
            view.part == nil ? CanvasMemory.Key(room: key.room, width: size.width, height: size.height) : nil
        // Their bytes are part of the reservation.
        var taken = memory.reserve(
            bytes, scenes: scenes, for: place, scenesOf: scenes > 0 ? key.room : nil, at: now)
        var painting = taken.painting ?? blank(board.size, view, at: now)
        taken.painting = nil
        if painting.size != board.size || painting.canvas != size { painting = blank(board.size, view, at: now) }
        painting.lastUse = now
        var cut = taken.scenes ?? SceneCache(byteLimit: bounds.keptSceneBytes)
        taken.scenes = nil
        let reserved = taken.reserved
        var made: [UInt8]?
        defer {
            countSkippedLassos(cut.takeSkippedCount())
            memory.finish(
                CanvasMemory.Taken(painting: painting, scenes: cut), place, made, key, at: now, reserved: reserved)
        }
        let canvas = try canvas(of: board, position, images.pixels, by: &painting, &cut, while: interest)
        let ink = view.part.map { canvas.cropped(to: $0) } ?? canvas
        let paper = key.form.paper(of: position.page, on: board)?.canvas(
            size, part: view.part, images: images.pixels)
        let file = PNGEncoder.encode(
            paper.map { ink.over($0) } ?? ink,
            background: key.form.background == .transparent ? .transparent : .white)
        made = file
        return file
    }

    /// How often the pixels of an image are in memory while they are drawn, beside the cache that they come from: averaged, or
    /// as the library of documents takes them, and written.
    private static let copiesOfImages = 2

    private func document(
        of board: Board, _ pages: [Int], _ images: PageImageSet, _ key: CanvasMemory.PictureKey, at now: Instant,
        while isWanted: () -> Bool
    ) throws(DrawingStopped) -> [UInt8] {
        let renderer = DocumentRenderer(strokes: strokes, bounds: bounds)
        let bytes = renderer.bytesToRender(
            board, pages: pages, images: Self.copiesOfImages * images.byteCount, key.form.format)
        guard bytes <= bounds.byteLimit else { throw .tooLarge }
        let sceneBytes = pages.map { renderer.sceneBytes(of: $0, on: board, key.form.format) }.max() ?? 0
        var taken = memory.reserve(bytes, scenes: sceneBytes, scenesOf: sceneBytes > 0 ? key.room : nil, at: now)
        var scenes = taken.scenes ?? SceneCache(byteLimit: bounds.keptSceneBytes)
        taken.scenes = nil
        let reserved = taken.reserved
        var made: [UInt8]?
        defer {
            countSkippedLassos(scenes.takeSkippedCount())
            memory.finish(CanvasMemory.Taken(scenes: scenes), nil, made, key, at: now, reserved: reserved)
        }
        let file = try renderer.document(
            of: board, pages: pages, papers: key.papers, images: images.pixels, &scenes, key.form, while: isWanted)
        made = file
        return file
    }

    private func canvas(
        of board: Board, _ position: BoardPosition, _ images: PageImages, by painting: inout CanvasMemory.Painting,
        _ scenes: inout SceneCache, while interest: Interest
    ) throws(DrawingStopped) -> Canvas {
        let content = board.content(of: position.page)
        let entries = VisibleEntries(
            strokes: Array(board.visible(on: position.page)), size: board.size, source: strokes)
        let scene = try scenes.scene(
            of: entries, lowest: content.lassos > 0 ? nil : 0, width: board.size.width, height: board.size.height,
            limits: bounds.sceneLimits
        ) { () throws(DrawingStopped) in
            guard interest.isWanted() else { throw .unwanted }
        }
        let picture = PagePicture(
            scene: scene, entries: entries, hasImages: content.images + content.texts > 0,
            images: images.drawingTexts(scale: painting.canvas.scale, most: bounds.mostTextPixels))
        return try painting.painter.canvas(of: picture.layers, at: position) { (place) throws(DrawingStopped) in
            guard interest.isWanted() else { throw .unwanted }
            return picture.content(of: place)
        } check: { (place) throws(DrawingStopped) in
            guard interest.isStrokeWanted(entries.id(picture.entry(of: place))) else { throw .unwanted }
        }
    }

    private func blank(_ size: BoardSize, _ view: PictureView, at now: Instant) -> CanvasMemory.Painting {
        let canvas = view.canvas
        let painter = BoardPainter(
            width: canvas.width, height: canvas.height, scale: canvas.scale, versionBytes: bounds.versionBytes,
            viewport: view.part)
        return CanvasMemory.Painting(painter: painter, size: size, canvas: canvas, lastUse: now)
    }
}
