import ArgumentParser
import Foundation
import Ink
import LecternClient
import LecternDemo
import PathGeometry
import Raster
import StrokeWire

/// `lectern-bench cut`: what a lasso costs.
struct CutBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cut",
        abstract: "Cut the outlines of handwriting by lassos of 1,024 points, and fill what is left.",
        discussion: """
            The subject: the outlines of 1,000 freehand strokes of a lesson, as SVG and PDF have them; a lesson with fewer \
            strokes is repeated. Without --lesson it is the handwriting of `lectern demo`.

            The lassos: a shaky ring around the middle of the board, and a scribble of random points all over it, which \
            crosses itself some 170,000 times. A cut is to take at most 20 ms for the ring.

            The filling: the parts of the strokes cut by the ring, on 2048 pixels across, beside the strokes themselves \
            drawn as strokes, and beside the union of each part's contours, which other rasterizers would need first.

            The output: the median of all rounds, and the lowest and the highest, in milliseconds of one processor, so \
            that other programs on the machine matter less.

            EXAMPLES
              lectern-bench cut
              lectern-bench cut --rounds 3 --lesson lesson.ndjson
            """)

    @OptionGroup var lesson: LessonInput

    @Option(help: "The number of rounds, 1 or more.")
    var rounds = 11

    @Option(help: "The number of rounds with the scribble, 1 or more.")
    var scribbleRounds = 3

    @OptionGroup var output: OutputForm

    private static let strokeCount = 1000
    private static let lassoPoints = 1024
    private static let width = 2048

    func validate() throws {
        guard rounds >= 1, scribbleRounds >= 1 else { throw ValidationError("rounds have to be 1 or more") }
    }

    func run() throws {
        let lesson = try self.lesson.load()
        let handwriting = LessonHandwriting(lesson)
        guard !handwriting.isEmpty else { throw ValidationError("the lesson has no handwriting") }
        let known = handwriting.strokes(.freehand, .smooth)
        let strokes = (0..<Self.strokeCount).map { known[$0 % known.count] }
        let size = Point(handwriting.boardWidth, handwriting.boardHeight)
        let outlines = strokes.map { Self.outline(of: $0, size) }
        var random = SeededGenerator(seed: 1)
        let (ring, scribble) = (Self.ring(size, &random), Self.scribble(size, &random))

        var report = BenchReport(json: output.json)
        report.add("strokes", Double(strokes.count))
        report.add("segments", Double(outlines.flatMap(\.contours).reduce(0) { $0 + $1.segments.count }))
        let parts = measure(ring, "ring", outlines, rounds, &report)
        measure(scribble, "scribble", outlines, scribbleRounds, &report)
        fill(parts, strokes, size, &report)
        report.print()
    }

    /// - Returns: the parts that are not empty.
    @discardableResult
    private func measure(
        _ lasso: Path, _ name: String, _ outlines: [Path], _ rounds: Int, _ report: inout BenchReport
    ) -> [Path] {
        Progress.say("\(name): \(rounds) rounds")
        var (border, whole) = ([Double](), [Double]())
        var parts: [Path] = []
        for _ in 0..<rounds {
            var cutter: PathCutter?
            let made = processorTime { cutter = PathCutter(lasso) }
            guard let cutter else { continue }
            var cut: [(inside: Path, outside: Path)] = []
            let rest = processorTime { cut = outlines.map(cutter.cut) }
            border.append(made / .milliseconds(1))
            whole.append((made + rest) / .milliseconds(1))
            parts = cut.flatMap { [$0.inside, $0.outside] }.filter { !$0.isEmpty }
        }
        report.add("\(name): border made, ms", border)
        report.add("\(name): border made and all strokes cut, ms", whole)
        report.add("\(name): parts", Double(parts.count))
        return parts
    }

    private func fill(_ parts: [Path], _ strokes: [InkStroke], _ size: Point, _ report: inout BenchReport) {
        Progress.say("filling: \(rounds) rounds")
        let canvas = CanvasSize(boardWidth: size.x, boardHeight: size.y, width: Self.width)
        var lectern = LecternCanvas(canvas)
        var (filled, drawn, united) = ([Double](), [Double](), [Double]())
        for _ in 0..<rounds {
            filled.append(processorTime { for part in parts { lectern.fill(part) } } / .milliseconds(1))
            drawn.append(processorTime { for stroke in strokes { lectern.draw(stroke) } } / .milliseconds(1))
        }
        for _ in 0..<scribbleRounds {
            united.append(processorTime { for part in parts { _ = part.simplified() } } / .milliseconds(1))
        }
        report.add("parts of the ring's cut filled, ms", filled)
        report.add("the strokes drawn as strokes, ms", drawn)
        report.add("union of each part's contours, ms", united)
    }

    private static func outline(of stroke: InkStroke, _ size: Point) -> Path {
        let scale = 0.4
        var fitter = ParabolaFitter(
            scale: scale, canvasWidth: Int(size.x * scale) + 1, canvasHeight: Int(size.y * scale) + 1)
        stroke.trace(into: &fitter)
        var outliner = StrokeContours(scale: scale, tolerance: 0.05)
        return Path(outliner.contours(of: fitter.samples))
    }

    private static func ring(_ size: Point, _ random: inout SeededGenerator) -> Path {
        let oval = Path(ellipse: size.x * 0.2, size.y * 0.2, width: size.x * 0.6, height: size.y * 0.6).contours[0]
        let perSegment = lassoPoints / oval.segments.count
        return Path(
            polygon: (0..<lassoPoints).map { index in
                let place = oval.segments[index / perSegment].point(
                    at: Double(index % perSegment) / Double(perSegment))
                return place + Self.point(in: Point(6, 6), &random) - 3
            })
    }

    private static func scribble(_ size: Point, _ random: inout SeededGenerator) -> Path {
        Path(polygon: (0..<lassoPoints).map { _ in point(in: size, &random) })
    }

    private static func point(in size: Point, _ random: inout SeededGenerator) -> Point {
        Point(Double.random(in: 0...size.x, using: &random), Double.random(in: 0...size.y, using: &random))
    }
}
