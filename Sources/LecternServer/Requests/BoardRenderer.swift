import Dispatch
import Ink
import Locking
import PNG
public import Raster
import StrokeWire
import VectorGraphics
public import Whiteboard

/// Renders and encodes the boards of rooms, and caches canvases and pictures as long as memory allows.
///
/// Safe from any thread; different rooms are rendered in parallel, one room on one thread at a time. Bounded: caches and
/// renderings under way, of all rooms and threads, take at most the given bytes together. Before a rendering, the least
/// recently used canvases are evicted to make space for it; if that is not enough it waits until others are done. An
/// evicted canvas is rendered again to the same pixels. A board of more pixels than fit the bytes is rendered smaller. A
/// board of more points than fit them is not rendered as SVG, PDF or InkML.
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
        let size: BoardSize
        var lastUse: Instant
    }

    private struct State {
        var paintings: [RoomIncarnation: Painting] = [:]
        var images: ImageCache
        /// Bytes reserved for renderings under way.
        var reserved = 0
        /// Renderings that wait for memory.
        var waiting: [DispatchSemaphore] = []
        /// The most bytes ever in use.
        var most = 0

        var byteCount: Int { paintings.values.reduce(reserved + images.byteCount) { $0 + $1.painter.byteCount } }

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

    /// Bytes of board versions that a room's painter may keep; it keeps one canvas in any case.
    private var versionBytes: Int { byteLimit / 8 }
    /// Pixels of a canvas at most, whatever size a client gives its board.
    private var mostPixels: Int { min(1 << 24, byteLimit / 32) }
    /// Pixels of an encoded picture at most.
    private var mostPicturePixels: Int { byteLimit / 16 }

    /// - Parameter byteLimit: bytes of canvases and encoded pictures, of all rooms and threads; an eighth of it is for
    ///   encoded pictures.
    init(_ configuration: ServerConfiguration, byteLimit: Int) {
        strokes = StrokeSource(configuration)
        scale = configuration.canvasScale
        self.byteLimit = byteLimit
        state = Locked(State(images: ImageCache(byteLimit: byteLimit / 8)))
    }

    /// Bytes in use, about: canvases, encoded pictures and reservations of renderings under way.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The most bytes ever in use, for tests.
    var mostBytes: Int { state.withLock { $0.most } }

    /// Whether the caches are empty.
    var isEmpty: Bool { state.withLock { $0.paintings.isEmpty && $0.images.isEmpty } }

    /// Number of strokes drawn for the cached canvases.
    var strokesDrawn: Int { state.withLock { $0.paintings.values.reduce(0) { $0 + $1.painter.layersDrawn } } }

    /// The picture of a board. Waits until there is memory to render it.
    func picture(
        of board: Board, _ room: RoomIncarnation, _ form: PictureForm, at now: Instant,
        while interest: Interest = Interest()
    ) throws(Failure) -> [UInt8] {
        let pages = form.pages(of: board)
        var digest = BoardDigest.empty
        for page in pages { digest.add(board.visible(on: page).digest) }
        let key = ImageCache.Key(
            room: room, digest: digest, pages: pages, size: SIMD2(board.size.width, board.size.height), form: form)
        if let file = state.withLock({ $0.images.image(key, at: now) }) { return file }
        return switch form.format {
        case .png: try png(of: board, pages[0], key, at: now, while: interest)
        case .svg, .pdf, .inkml: try document(of: board, pages, key, at: now, while: interest)
        }
    }

    private func png(
        of board: Board, _ page: Int, _ key: ImageCache.Key, at now: Instant, while interest: Interest
    ) throws(Failure) -> [UInt8] {
        let size = canvasSize(board.size)
        let bytes = bytesToDraw(size, pictureWidth: key.form.width)
        // Removed from the table while in use, so that nothing is copied; its bytes are part of the reservation.
        var painting = reserve(bytes, for: key.room) ?? blank(board.size, at: now)
        if painting.size != board.size { painting = blank(board.size, at: now) }
        painting.lastUse = now
        var made: [UInt8]?
        defer { finish(painting, made, key, at: now, reserved: bytes) }
        let canvas = try canvas(of: board, page, by: &painting.painter, while: interest)
        let file = PNGEncoder.encode(
            canvas, width: key.form.width, mostPixels: mostPicturePixels,
            background: key.form.background == .transparent ? .transparent : .white)
        made = file
        return file
    }

    /// Bytes that a point takes while its board becomes a document, about: decoded, as an outline, written.
    static let documentBytesOfPoint = 512
    /// Bytes that a document takes at least, while it is made.
    private static let leastDocumentBytes = 1 << 20

    /// The SVG, PDF or InkML of a board: all of its strokes each time, for documents share nothing. Strokes are scaled to the
    /// board, coordinates to the width.
    private func document(
        of board: Board, _ pages: [Int], _ key: ImageCache.Key, at now: Instant, while interest: Interest
    ) throws(Failure) -> [UInt8] {
        let visible = pages.map { board.visible(on: $0) }
        let points = visible.joined().reduce(0) { $0 + max($1.pointCount, 8) }
        let bytes = Self.leastDocumentBytes + points * Self.documentBytesOfPoint
        guard bytes <= byteLimit else { throw .tooLarge }
        reserve(bytes)
        var made: [UInt8]?
        defer { finish(nil, made, key, at: now, reserved: bytes) }
        let file =
            switch key.form.format {
            case .inkml: try ink(board, pages, while: interest.isWanted)
            default: try vectors(visible, board.size, key.form, while: interest.isWanted)
            }
        guard file.count <= byteLimit / 8 else { throw .tooLarge }
        made = file
        return file
    }

    private func vectors(
        _ pages: [VisibleStrokes], _ size: BoardSize, _ form: PictureForm, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8] {
        var drawings: [BoardDrawing] = []
        for visible in pages {
            var painted: [PaintedStroke] = []
            painted.reserveCapacity(visible.count)
            for stroke in visible {
                guard isWanted() else { throw .cancelled }
                painted.append(strokes.stroke(stroke, on: size))
            }
            drawings.append(BoardDrawing(width: size.width, height: size.height, strokes: painted))
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
                drawing, paper: background == .transparent ? .transparent : .white, scale: scale,
                byteLimit: byteLimit / 8, while: isWanted)
        } catch {
            throw error == .tooLarge ? .tooLarge : .cancelled
        }
    }

    private func pdf(
        _ drawings: [BoardDrawing], _ scale: Double, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8] {
        let file: [UInt8]?
        do throws(PDFRenderer.Failure) {
            file = try PDFRenderer.render(drawings, scale: scale, while: isWanted)
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

    private func canvas(
        of board: Board, _ page: Int, by painter: inout BoardPainter, while interest: Interest
    ) throws(Failure) -> Canvas {
        let visible = Array(board.visible(on: page))
        var digest = BoardDigest.empty
        let layers = visible.map { stroke in
            digest.insert(stroke.index)
            return BoardLayer(id: stroke.index, digest: digest.value)
        }
        return try painter.canvas(of: layers) { (place) throws(Failure) in
            guard interest.isWanted() else { throw .cancelled }
            return .stroke(strokes.stroke(visible[place], on: board.size))
        } check: { (place) throws(Failure) in
            guard interest.isStrokeWanted(visible[place].index) else { throw .cancelled }
        }
    }

    private func blank(_ size: BoardSize, at now: Instant) -> Painting {
        let canvas = canvasSize(size)
        let painter = BoardPainter(
            width: canvas.width, height: canvas.height, scale: canvas.scale, versionBytes: versionBytes)
        return Painting(painter: painter, size: size, lastUse: now)
    }

    private func canvasSize(_ size: BoardSize) -> CanvasSize {
        CanvasSize(boardWidth: size.width, boardHeight: size.height, scale: scale, mostPixels: mostPixels)
    }

    /// Bytes that rendering and encoding take at most: the painter's versions, plus the larger of two phases: the canvas,
    /// the one it starts from and scratch memory; then the canvas, its scaled picture and the file.
    private func bytesToDraw(_ size: CanvasSize, pictureWidth: Int?) -> Int {
        let pixels = size.width * size.height
        let width = pictureWidth ?? size.width
        let picturePixels = min(width * (width * size.height / size.width + 1), mostPicturePixels)
        return max(versionBytes, 4 * pixels) + max(21 * pixels, 4 * pixels + 8 * picturePixels)
    }

    /// Waits until there is memory for a rendering, and removes the painting of its room from the table.
    @discardableResult
    private func reserve(_ bytes: Int, for room: RoomIncarnation? = nil) -> Painting? {
        while true {
            let (painting, turn) = state.withLock { state -> (Painting?, DispatchSemaphore?) in
                let painting = room.flatMap { state.paintings.removeValue(forKey: $0) }
                state.shrink(to: byteLimit - bytes, keeping: 0)
                guard state.reserved == 0 || state.byteCount + bytes <= byteLimit else {
                    if let room, let painting { state.paintings[room] = painting }
                    let turn = DispatchSemaphore(value: 0)
                    state.waiting.append(turn)
                    return (nil, turn)
                }
                state.reserved += bytes
                state.most = max(state.most, state.byteCount)
                return (painting, nil)
            }
            guard let turn else { return painting }
            turn.wait()
        }
    }

    /// Puts a painting and its file back in place of the reservation.
    private func finish(
        _ painting: Painting?, _ file: [UInt8]?, _ key: ImageCache.Key, at now: Instant, reserved bytes: Int
    ) {
        let waiting = state.withLock { state in
            state.reserved -= bytes
            if let painting { state.paintings[key.room] = painting }
            if let file { state.images.insert(file, key, at: now) }
            state.shrink(to: byteLimit, keeping: 1)
            defer { state.waiting = [] }
            return state.waiting
        }
        for turn in waiting { turn.signal() }
    }
}

/// A cache of encoded pictures, least recently used evicted first.
///
/// Bounded in bytes; a picture larger than the bound is not cached.
struct ImageCache: Sendable {
    /// The content of a picture: equal keys are equal pictures, also for different cohorts.
    struct Key: Sendable, Hashable {
        let room: RoomIncarnation
        let digest: BoardDigest
        /// Those of its pages that it shows.
        let pages: [Int]
        /// Width and height of the board.
        let size: SIMD2<Double>
        let form: PictureForm
    }

    private struct Image {
        let bytes: [UInt8]
        var lastUse: Instant
    }

    private let byteLimit: Int
    private var images: [Key: Image] = [:]
    private(set) var byteCount = 0
    var isEmpty: Bool { images.isEmpty }

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The cached picture; counts as a use.
    mutating func image(_ key: Key, at now: Instant) -> [UInt8]? {
        guard let index = images.index(forKey: key) else { return nil }
        images.values[index].lastUse = now
        return images.values[index].bytes
    }

    mutating func insert(_ bytes: [UInt8], _ key: Key, at now: Instant) {
        guard images[key] == nil, bytes.count <= byteLimit else { return }
        while byteCount + bytes.count > byteLimit,
            let oldest = images.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
        images[key] = Image(bytes: bytes, lastUse: now)
        byteCount += bytes.count
    }

    /// Evicts pictures unused since `instant`.
    mutating func evict(unusedSince instant: Instant) {
        for (key, image) in images where image.lastUse < instant { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        if let image = images.removeValue(forKey: key) { byteCount -= image.bytes.count }
    }
}

/// Converts a logged stroke to what the painter draws: points in board units, width, colour.
public struct StrokeSource: Sendable {
    private let style: InkStyle
    private let tip: InkTip
    private let colours: ColourSpace
    private let palette: Palette

    public init(_ configuration: ServerConfiguration) {
        style = configuration.style
        tip = configuration.tip
        colours = configuration.room.intake.wire.colours
        palette = configuration.palette
    }

    /// The stroke, scaled from its sender's units to the board's.
    public func stroke(_ stroke: Stroke, on size: BoardSize) -> PaintedStroke {
        guard let (header, points) = scaled(stroke, on: size) else {
            return PaintedStroke(
                stroke: InkStroke(element: .freehand, style: style, width: 0, points: []), colour: RGB(0))
        }
        return PaintedStroke(
            stroke: InkStroke(
                element: header.element, style: style, width: header.width, points: points,
                unit: size.longerSide / 1024, tip: tip),
            colour: RGB(rgb(header.colour)))
    }

    /// The message of a stroke with its points, both in the board's units; nil where it cannot be decoded.
    func scaled(_ stroke: Stroke, on size: BoardSize) -> (header: StrokeMessage, points: [StrokePoint])? {
        guard case (var header, var points)? = stroke.decoded() else { return nil }
        let scale = size.scale(for: header)
        if scale.x != 1 || scale.y != 1 {
            for position in points.indices {
                points[position].x *= scale.x
                points[position].y *= scale.y
            }
        }
        header.width *= scale.width
        return (header, points)
    }

    /// `0xRRGGBB` of a message's colour.
    func rgb(_ value: UInt32) -> UInt32 {
        switch colours {
        case .palette: palette[value] ?? 0
        case .rgb: value
        }
    }
}
