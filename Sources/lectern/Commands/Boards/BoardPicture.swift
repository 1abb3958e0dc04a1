import LecternClient
import LecternServer
import Raster
import Scene
import StrokeWire
import VectorGraphics
import Whiteboard

/// A page of a board to be drawn in any format.
struct BoardPicture {
    var drawing: BoardDrawing
    /// Pixels a board unit.
    let scale: Double
    private let canvasSize: CanvasSize

    /// - Parameters:
    ///   - page: its number; one on which nothing was drawn is blank.
    ///   - width: in pixels; nil for one pixel a board unit.
    ///   - format: a PNG has at most the largest side of a canvas; a larger one is scaled down.
    ///   - marks: what the debug overlay over the strokes shows.
    init(
        _ board: Board, page: Int, configuration: ServerConfiguration, width: Int?, format: PictureFormat,
        marks: Set<DebugOverlay.Kind> = []
    ) {
        let size = board.size
        let source = StrokeSource(configuration)
        let entries = board.visible(on: page).compactMap { entry in
            source.content(entry, on: size).map { PageEntry(id: entry.index, $0) }
        }
        self.init(
            BoardDrawing(
                width: size.width, height: size.height, entries: entries,
                paper: PagePaper(board.pages.paper(of: page), width: size.width, height: size.height)),
            width: width, format: format, marks: marks)
    }

    /// The same of entries that lie on no board.
    init(_ size: BoardDrawing, width: Int?, format: PictureFormat, marks: Set<DebugOverlay.Kind> = []) {
        canvasSize =
            width.map { CanvasSize(boardWidth: size.width, boardHeight: size.height, width: $0) }
            ?? CanvasSize(boardWidth: size.width, boardHeight: size.height, scale: 1)
        scale = format == .png ? canvasSize.scale : width.map { Double($0) / size.width } ?? 1
        drawing = BoardDrawing(
            width: size.width, height: size.height, entries: size.entries, paper: size.paper,
            overlay: marks.isEmpty
                ? nil
                : DebugOverlay(
                    strokes: size.strokes, width: size.width, height: size.height, scale: scale, kinds: marks))
    }

    /// The width of the canvas in pixels.
    var canvasWidth: Int { canvasSize.width }

    /// The pixels, drawn at the final width.
    var canvas: Canvas {
        var canvas = Canvas(width: canvasSize.width, height: canvasSize.height)
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: canvasSize.scale)
        var shown = drawing
        shown.images = drawing.images.drawingTexts(scale: canvasSize.scale)
        for layer in shown.layers() { painter.draw(layer, on: &canvas) }
        drawing.overlay?.paint(on: &canvas)
        return drawing.paper.map { canvas.over($0.canvas(canvasSize, images: drawing.images)) } ?? canvas
    }
}

/// The board that a lesson leads to, folded as in the service, without waiting.
struct BoardFold {
    /// The board after the last folded operation.
    private(set) var board: Board
    /// The rejections, each with the number of its line.
    private(set) var rejections: [(line: Int, Rejection)] = []

    /// What the room was folded with, and its picture is drawn with.
    let configuration: ServerConfiguration

    /// - Parameter last: index of the last operation to fold; nil for all.
    init(_ messages: [[UInt8]], configuration: ServerConfiguration, through last: UInt64?) {
        self.configuration = configuration
        var room = Room(configuration: configuration.room, at: Instant(nanoseconds: 0))
        board = room.head
        guard let author = AuthorID("lesson") else { return }
        var effects = RoomEffects()
        for (position, bytes) in messages.enumerated() {
            if let last, room.head.index >= last { break }
            // Messages are a minute apart, so that no rate limit applies.
            let now = Instant(nanoseconds: 0) + .seconds(60 * (position + 1))
            let incoming = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
            room.receive(incoming, incarnation: { "render" }, at: now, into: &effects)
            for case .feedback(_, _, .rejected(_, _, let rejection)) in effects.list {
                rejections.append((position + 1, rejection))
            }
            effects.removeAll()
        }
        board = room.head
    }
}
