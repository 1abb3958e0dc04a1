import ArgumentParser
import Dispatch
import Foundation
import Ink
import LecternClient
import LecternDemo
import Raster
import StrokeWire

/// `lectern-bench raster`: from points to pixels, beside Cairo.
struct RasterBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raster",
        abstract: "Draw the handwriting of a lesson on 2048 pixels across, and compare with Cairo in the same run.",
        discussion: """
            The subject: the freehand strokes of a lesson, each joined from its shards, in the order in which they were \
            drawn, again and again on one canvas. Without --lesson it is the handwriting of `lectern demo`.

            The comparison: for a style of constant width Cairo strokes the same curves. For a style of changing width \
            it fills one ribbon, the outline that SVG and PDF get; the outline is made beforehand, and its making is not \
            counted. Cairo has its own tolerance (0.1 pixels) and antialiasing, ARGB32 pixels, one thread. Both begin \
            with points in memory, or with the bytes of messages where it says so, and end with pixels.

            The PNG of the board is compared with that of libpng at level 1 without filters, in the same format of \
            pixels: true colour, or one byte a pixel where the board has at most 256 colours.

            The output: the median of all rounds, and the lowest and the highest; the renderers take turns within a \
            round, and what is drawn before the first is not counted. The ratio to Cairo is the median of the ratios of the rounds. The error is the mean difference of the \
            covered part of a pixel from 16 × 16 samples, over the pixels at edges, stroke by stroke; the samples \
            themselves are off by some 0.0025.

            Note: other programs on the machine change all figures, the ratios least. Figures of \
            different runs are not comparable, nor those of different lessons: small writing has more bends a pixel.

            EXAMPLES
              lectern-bench raster                          # all of it, some 15 seconds
              lectern-bench raster --rounds 3               # a first look
              lectern-bench raster --lesson lesson.ndjson   # other handwriting
              lectern-bench raster --json > figures.json    # for programs; progress goes to standard error
            """)

    @OptionGroup var lesson: LessonInput

    @Option(help: "The number of rounds, 1 or more.")
    var rounds = 11

    @Option(help: "The number of strokes whose error is measured; 0 for none.")
    var errorStrokes = 100

    @OptionGroup var output: OutputForm

    private static let width = 2048

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds has to be 1 or more") }
        guard errorStrokes >= 0 else { throw ValidationError("--error-strokes has to be 0 or more") }
    }

    func run() throws {
        let lesson = try self.lesson.load()
        let handwriting = LessonHandwriting(lesson)
        guard !handwriting.isEmpty else { throw ValidationError("the lesson has no handwriting") }
        let canvas = CanvasSize(
            boardWidth: handwriting.boardWidth, boardHeight: handwriting.boardHeight, width: Self.width)
        var report = BenchReport(json: output.json)
        report.add("strokes", Double(handwriting.count))
        report.add("points a stroke", handwriting.pointsPerStroke)

        for (style, name) in [(InkStyle.smooth, "constant width (smooth)"), (.bspline, "changing width (bspline)")] {
            compare(handwriting, style, canvas, name, &report)
        }
        for (style, name) in [
            (InkStyle.pen, "changing opacity (pen)"), (.calligraphy, "calligraphy"),
            (.stamp, "stamps (stamp)"),
        ] {
            measure(handwriting.strokes(.freehand, style), canvas, name, &report)
        }
        measure(handwriting.strokes(.eraser, .smooth), canvas, "eraser over ink", &report, over: handwriting)
        measureThreads(handwriting, canvas, &report)
        BoardMeasurement(strokes: handwriting.strokes(.freehand, .smooth), canvas: canvas, rounds: rounds).run(&report)
        report.print()
    }

    /// Lectern and Cairo in turns, and the error of both.
    private func compare(
        _ handwriting: LessonHandwriting, _ style: InkStyle, _ size: CanvasSize, _ name: String,
        _ report: inout BenchReport
    ) {
        Progress.say("\(name): \(rounds) rounds of Lectern and Cairo")
        let strokes = handwriting.strokes(.freehand, style)
        let isConstant = style == .smooth
        let cairo = CairoCanvas(size)
        let outlines = isConstant ? [] : strokes.map { cairo.outline(of: $0) }
        var lectern = LecternCanvas(size)
        let passes = handwriting.passes
        func drawAll() { for stroke in strokes { lectern.draw(stroke) } }
        func drawDecoded() { handwriting.forEachDecoded(.freehand, style) { lectern.draw($0) } }
        func cairoAll() {
            if isConstant {
                for stroke in strokes { cairo.stroke(stroke) }
            } else {
                for outline in outlines { cairo.fill(outline) }
            }
        }
        var ours = [Double]()
        var decoded = [Double]()
        var theirs = [Double]()
        var ratio = [Double]()
        drawAll()
        cairoAll()
        for _ in 0..<rounds {
            let count = Double(strokes.count * passes)
            let mine = count / seconds { for _ in 0..<passes { drawAll() } }
            let other = count / seconds { for _ in 0..<passes { cairoAll() } }
            ours.append(mine)
            theirs.append(other)
            ratio.append(mine / other)
            decoded.append(count / seconds { for _ in 0..<passes { drawDecoded() } })
        }
        report.add("\(name): strokes a second", ours)
        report.add("\(name): strokes a second from bytes", decoded)
        report.add("\(name): strokes a second, Cairo", theirs)
        report.add("\(name): times as fast as Cairo", ratio, atLeast: isConstant ? 6 : 5)
        guard errorStrokes > 0 else { return }
        Progress.say("\(name): error of \(min(errorStrokes, strokes.count)) strokes")
        var error = (ours: CoverageError(), theirs: CoverageError())
        for stroke in strokes.prefix(errorStrokes) {
            let samples = SampledCoverage(of: stroke, size)
            let lectern = LecternCanvas.alphas(of: stroke, size)
            error.ours.add(samples) { lectern.pixel(x: $0, y: $1) >> 24 }
            let cairo = CairoCanvas(size)
            if isConstant { cairo.stroke(stroke) } else { cairo.fill(cairo.outline(of: stroke)) }
            error.theirs.add(samples) { cairo.alpha($0, $1) }
        }
        report.add("\(name): mean error", error.ours.mean)
        report.add("\(name): mean error, Cairo", error.theirs.mean)
    }

    private func measure(
        _ strokes: [InkStroke], _ size: CanvasSize, _ name: String, _ report: inout BenchReport,
        over below: LessonHandwriting? = nil
    ) {
        Progress.say("\(name): \(rounds) rounds")
        var lectern = LecternCanvas(size)
        for stroke in below?.strokes(.freehand, .smooth) ?? [] { lectern.draw(stroke) }
        let full = lectern.canvas
        for stroke in strokes { lectern.draw(stroke) }
        var rate = [Double]()
        for _ in 0..<rounds {
            // An eraser has something to remove in every round.
            lectern.canvas = full
            rate.append(Double(strokes.count) / seconds { for stroke in strokes { lectern.draw(stroke) } })
        }
        report.add("\(name): strokes a second", rate)
    }

    /// Two threads, each with strokes, a painter and a canvas of its own, and one of them alone.
    private func measureThreads(_ handwriting: LessonHandwriting, _ size: CanvasSize, _ report: inout BenchReport) {
        Progress.say("two threads: \(rounds) rounds")
        let strokes = (0..<2).map { _ in handwriting.strokes(.freehand, .smooth) }
        let passes = handwriting.passes
        func draw(threads: Int) {
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                var lectern = LecternCanvas(size)
                for _ in 0..<passes { for stroke in strokes[thread] { lectern.draw(stroke) } }
            }
        }
        var ratio = [Double]()
        var rate = [Double]()
        draw(threads: 2)
        for _ in 0..<rounds {
            let one = seconds { draw(threads: 1) }
            let two = seconds { draw(threads: 2) }
            rate.append(Double(2 * handwriting.count * passes) / two)
            ratio.append(2 * one / two)
        }
        report.add("two threads (smooth): strokes a second", rate)
        report.add("two threads (smooth): times as fast as one", ratio)
    }
}

/// Undo beside drawing, the memory of a board and of a version, and the PNG.
private struct BoardMeasurement {
    let strokes: [InkStroke]
    let canvas: CanvasSize
    let rounds: Int

    private static let count = 1000
    /// Where a PNG file says what its pixels are; 3 for numbers of a palette.
    private static let colourTypePlace = 25

    func run(_ report: inout BenchReport) {
        Progress.say("a board of \(Self.count) strokes: \(rounds) rounds")
        let board = (0..<Self.count).map { strokes[$0 % strokes.count] }
        let layers = (1...Self.count).map { BoardLayer(id: UInt64($0), digest: UInt64($0) &* 0x9E37_79B9_7F4A_7C15) }
        let shorter = Array(layers.dropLast())
        var redraw = [Double]()
        var draw = [Double]()
        var undo = [Double]()
        var ratio = [Double]()
        var png = [Double]()
        var image = Canvas(width: canvas.width, height: canvas.height)
        var bytes = 0
        var reference = [Double]()
        var pngRatio = [Double]()
        var referenceBytes = 0
        for _ in 0..<rounds {
            var painter = BoardPainter(
                width: canvas.width, height: canvas.height, scale: canvas.scale, versionBytes: 512 << 20)
            func paint(_ layers: [BoardLayer]) -> Double {
                seconds {
                    image = painter.canvas(of: layers) {
                        .stroke(PaintedStroke(stroke: board[$0], colour: LecternCanvas.colour))
                    }
                }
            }
            redraw.append(paint(shorter) * 1000)
            let drawn = paint(layers) * 1e6
            let undone = paint(shorter) * 1e6
            draw.append(drawn)
            undo.append(undone)
            ratio.append(drawn / undone)
            let mine = seconds { bytes = PNGEncoder.encode(image).count }
            // A palette image has one byte a pixel, true colour three.
            let rival = ReferencePNG(image, isPlane: PNGEncoder.encode(image)[Self.colourTypePlace] == 3)
            let theirs = seconds { referenceBytes = rival.encodedSize() ?? 0 }
            png.append(mine * 1000)
            reference.append(theirs * 1000)
            pngRatio.append(theirs / mine)
        }
        report.add("board of \(Self.count): milliseconds to draw it", redraw)
        report.add("board of \(Self.count): microseconds to draw one more stroke", draw)
        report.add("board of \(Self.count): microseconds to undo it", undo)
        report.add("board of \(Self.count): undo, times as fast as drawing that stroke", ratio)
        report.add("board of \(Self.count): canvas bytes", Double(image.byteCount))
        report.add("board of \(Self.count): canvas bytes a version", versionBytes(board.prefix(100)))
        report.add("board of \(Self.count): milliseconds to encode a PNG", png)
        report.add("board of \(Self.count): milliseconds to encode a PNG, libpng level 1", reference)
        report.add("board of \(Self.count): PNG, times as fast as libpng", pngRatio)
        report.add("board of \(Self.count): PNG bytes", Double(bytes))
        report.add("board of \(Self.count): PNG bytes, libpng level 1", Double(referenceBytes))
    }

    /// What a stroke adds to a board whose earlier versions are kept.
    private func versionBytes(_ board: ArraySlice<InkStroke>) -> Double {
        var lectern = LecternCanvas(canvas)
        for stroke in board { lectern.draw(stroke) }
        var bytes = 0
        for stroke in board {
            let before = lectern.canvas
            lectern.draw(stroke)
            bytes += lectern.canvas.unsharedByteCount(with: before)
        }
        return Double(bytes) / Double(board.count)
    }
}

/// Wall time of some work.
private func seconds(_ work: () -> Void) -> Double {
    ContinuousClock().measure(work) / .seconds(1)
}
