import ArgumentParser
import CCairo
import Foundation
import Ink
import LecternClient
import LecternDemo
import PNG
import Raster
import StrokeWire
import VectorGraphics

/// `lectern-bench raster`: from message bytes to pixels, compared with Cairo.
struct RasterBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raster",
        abstract: "Draw a lesson's handwriting on 2048 × 1536 pixels, on one thread, and compare with Cairo.",
        discussion: """
            Every figure is the best of several rounds. The two renderers take turns, each on its own canvas. A short \
            lesson is drawn several times a round, so that the caches are not full of the other renderer's data. Cairo \
            strokes the same curves when the width is constant, and fills the same outlines, made by our stroker, \
            when it is not, with its own tolerance and antialiasing. From bytes, both decode the same messages.
            """)

    @Option(help: ArgumentHelp("A lesson file instead of the one that comes with the program.", valueName: "file"))
    var lesson: String?

    @Option(help: "Number of rounds.")
    var rounds = 12

    @Flag(help: "One JSON object instead of a table.")
    var json = false

    /// The least number of strokes drawn in a round.
    private static let leastStrokes = 4000
    private static let width = 2048
    private static let height = 1536

    func run() throws {
        let lesson = try self.lesson.map { try Lesson(contentsOfFile: $0) } ?? DemoLesson.make()
        let messages = lesson.messages.filter { $0.header.action == .draw && $0.header.element == .freehand }
        guard let first = messages.first else { throw ValidationError("the lesson has no handwriting") }
        let scale = Double(Self.width) / (first.header.boardWidth ?? 1024)
        var report = BenchReport(json: json)
        report.add("strokes", Double(messages.count))
        measure(messages, style: .smooth, scale: scale, name: "constant", into: &report) { $0.stroke($1) }
        measure(messages, style: .bspline, scale: scale, name: "tapered", into: &report) { $0.fill($1) }
        let strokes = messages.map { Self.stroke($0, .smooth) }
        measureVersions(strokes, scale: scale, into: &report)
        report.print()
    }

    private static func stroke(_ message: LessonMessage, _ style: InkStyle) -> InkStroke {
        stroke(message.header, message.header.decodePoints(of: message.bytes), style)
    }

    private static func stroke(_ header: StrokeMessage, _ points: [StrokePoint], _ style: InkStyle) -> InkStroke {
        InkStroke(element: header.element, style: style, width: header.width, points: points)
    }

    /// Strokes a second of both renderers, and the ratio.
    private func measure(
        _ messages: [LessonMessage], style: InkStyle, scale: Double, name: String, into report: inout BenchReport,
        cairo draw: (CairoCanvas, InkStroke) -> Void
    ) {
        Progress.say("drawing strokes of \(name) width, \(rounds) rounds")
        let strokes = messages.map { Self.stroke($0, style) }
        var painter = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height, scale: scale)
        let colour = RGB(0x1a3399)
        let cairo = CairoCanvas(width: Self.width, height: Self.height, scale: scale, colour: colour)
        let passes = max(1, Self.leastStrokes / messages.count)
        func decoded(_ body: (InkStroke) -> Void) {
            var points: [StrokePoint] = []
            for _ in 0..<passes {
                for message in messages {
                    guard let header = try? StrokeMessage(decoding: message.bytes, points: &points) else { continue }
                    body(Self.stroke(header, points, style))
                }
            }
        }
        func ready(_ body: (InkStroke) -> Void) {
            for _ in 0..<passes { strokes.forEach(body) }
        }
        var canvas = Canvas(width: Self.width, height: Self.height)
        func paint(_ stroke: InkStroke) { painter.draw(PaintedStroke(stroke: stroke, colour: colour), on: &canvas) }
        var bytes = (ours: Double.infinity, theirs: Double.infinity)
        var points = bytes
        for _ in 0..<rounds {
            bytes.ours = min(bytes.ours, seconds { decoded(paint) })
            bytes.theirs = min(bytes.theirs, seconds { decoded { draw(cairo, $0) } })
            points.ours = min(points.ours, seconds { ready(paint) })
            points.theirs = min(points.theirs, seconds { ready { draw(cairo, $0) } })
        }
        let count = Double(messages.count * passes)
        report.add("\(name): strokes a second, bytes to pixels", count / bytes.ours)
        report.add("\(name): strokes a second, points to pixels", count / points.ours)
        report.add("\(name): strokes a second, Cairo, bytes to pixels", count / bytes.theirs)
        report.add("\(name): strokes a second, Cairo, points to pixels", count / points.theirs)
        report.add("\(name): times as fast as Cairo, bytes to pixels", bytes.theirs / bytes.ours)
        report.add("\(name): times as fast as Cairo, points to pixels", points.theirs / points.ours)
    }

    /// Undo compared with drawing anew, memory of a board and of a version, and the PNG.
    private func measureVersions(_ strokes: [InkStroke], scale: Double, into report: inout BenchReport) {
        let count = min(1000, max(strokes.count, 1))
        Progress.say("drawing a board of \(count) strokes, \(rounds) rounds")
        let board = (0..<count).map { strokes[$0 % strokes.count] }
        let layers = (1...count).map { BoardLayer(id: UInt64($0), digest: UInt64($0) &* 0x9E37_79B9_7F4A_7C15) }
        let colour = RGB(0x1a3399)
        var redraw = Double.infinity
        var undo = Double.infinity
        var png = Double.infinity
        var canvas = Canvas(width: Self.width, height: Self.height)
        var bytes = 0
        for _ in 0..<rounds {
            var painter = BoardPainter(
                width: Self.width, height: Self.height, scale: scale, versionBytes: 512 << 20)
            func paint(_ layers: [BoardLayer]) -> Canvas {
                painter.canvas(of: layers) { PaintedStroke(stroke: board[$0], colour: colour) }
            }
            redraw = min(redraw, seconds { canvas = paint(layers) })
            let shorter = Array(layers.dropLast())
            undo = min(undo, seconds { _ = paint(shorter) })
            png = min(png, seconds { bytes = PNGEncoder.encode(canvas).count })
        }
        var stepper = StrokePainter(canvasWidth: Self.width, canvasHeight: Self.height, scale: scale)
        var version = canvas
        var versionBytes = 0
        for stroke in board.prefix(100) {
            let before = version
            stepper.draw(PaintedStroke(stroke: stroke, colour: colour), on: &version)
            versionBytes += version.unsharedByteCount(with: before)
        }
        report.add("board: strokes", Double(count))
        report.add("board: milliseconds to draw anew", redraw * 1000)
        report.add("board: undo of the newest, times as fast as drawing anew", redraw / undo)
        report.add("board: canvas bytes", Double(canvas.byteCount))
        report.add("board: canvas bytes a version", Double(versionBytes) / Double(min(100, count)))
        report.add("board: milliseconds to encode a PNG", png * 1000)
        report.add("board: PNG bytes", Double(bytes))
        report.add("board: encoding, times drawing", png / redraw)
    }
}

/// Wall time of some work.
private func seconds(_ work: () -> Void) -> Double {
    ContinuousClock().measure(work) / .seconds(1)
}

/// Draws the same strokes with Cairo, for comparison.
private final class CairoCanvas {
    private let surface: OpaquePointer
    private let context: CairoContext
    private var fitter: ParabolaFitter
    private var outliner: StrokeContours

    init(width: Int, height: Int, scale: Double, colour: RGB) {
        surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        context = CairoContext(surface: surface, scale: scale)
        context.setColour(colour, opacity: 1)
        fitter = ParabolaFitter(scale: scale, canvasWidth: width, canvasHeight: height)
        outliner = StrokeContours(scale: scale, tolerance: 0)
    }

    deinit { cairo_surface_destroy(surface) }

    /// Strokes the centre line with constant width.
    func stroke(_ stroke: InkStroke) {
        var path = context.newPath()
        stroke.trace(into: &path)
        path.finish()
        context.stroke(width: stroke.width)
    }

    /// Fills the outline of a line of changing width.
    func fill(_ stroke: InkStroke) {
        fitter.reset()
        stroke.trace(into: &fitter)
        var path = context.newPath()
        for contour in outliner.contours(of: fitter.samples) { contour.trace(into: &path) }
        context.fill()
    }
}
