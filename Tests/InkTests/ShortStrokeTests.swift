import Ink
import StrokeWire
import TestSupport
import Testing

@Suite struct `Short strokes` {
    /// A pen that tells force and time, and one that tells neither.
    private func variants(_ places: [(Double, Double)]) -> [[StrokePoint]] {
        let plain = points(places)
        let pressed = plain.enumerated().map {
            StrokePoint(x: $1.x, y: $1.y, force: 0.2 + 0.3 * Double($0), milliseconds: 4 * Double($0))
        }
        return [plain, pressed]
    }

    @Test(arguments: InkStyle.allCases) func `One point is an opaque dot of exactly the line width`(style: InkStyle) {
        for stroke in variants([(7, 8)]) { #expect(trace(style, stroke) == [.begin(Vector(7, 8), Nib(width: 16))]) }
    }

    @Test(arguments: InkStyle.allCases)
    func `A tap, the same point twice, covers that dot and no more`(style: InkStyle) {
        for stroke in variants([(7, 8), (7, 8)]) {
            var flattener = Flattener(scale: 1)
            InkStroke(element: .freehand, style: style, width: 16, points: stroke).trace(into: &flattener)
            #expect(flattener.samples.allSatisfy { $0.x == 7 && $0.y == 8 && $0.radius <= 8 })
            #expect(flattener.samples.contains { $0.radius > 4 })
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `Points that are next to nothing apart, in space and in time, have finite ink`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<400 {
            let points = [StrokePoint].nearEachOther(using: &random)
            let element = random.pick([Element.freehand, .freehand, .eraser, .line, .rectangle, .ellipse, .arrow])
            let stroke = InkStroke(element: element, style: style, width: random.pick([1e-300, 4]), points: points)
            var flattener = Flattener(scale: 1.5)
            stroke.trace(into: &flattener)
            var fitter = ParabolaFitter(scale: 1.5, canvasWidth: 100, canvasHeight: 100)
            stroke.trace(into: &fitter)
            for sample in flattener.samples + fitter.samples {
                let sum = sample.x + sample.y + sample.radius + sample.opacity + sample.sagX + sample.sagY
                #expect(sum.isFinite, "seed \(random.seed), round \(round), \(element): \(sample)")
            }
        }
    }
}

@Suite("Stamps")
struct StampTests {
    private func stamps(
        _ line: [CentreSample], chunk: Int = .max, scale: Double = 1, canvas: Int = 10_000
    ) -> [Stamp] {
        var placer = StampPlacer(scale: scale, canvasWidth: canvas, canvasHeight: canvas)
        var stamps: [Stamp] = []
        var start = 0
        repeat {
            let end = chunk < line.count - start ? start + chunk : line.count
            _ = line[max(start - 1, 0)..<end].withUnsafeBufferPointer { samples in
                placer.add(samples) { stamp in
                    stamps.append(stamp)
                    return true
                }
            }
            start = end
        } while start < line.count
        _ = placer.finish { stamp in
            stamps.append(stamp)
            return true
        }
        return stamps
    }

    @Test func `lie half a unit apart along the line, whatever the chunks, and stay within the alpha of the brush`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for scale in [1.0, 2, 3.3] {
            var place = 100 * scale
            var line = [CentreSample(x: Float(place), y: 500, radius: 4)]
            for _ in 0..<200 {
                place += Double.random(in: 0...3, using: &random) * scale
                line.append(CentreSample(x: Float(place), y: 500, radius: 4))
            }
            let stamps = stamps(line, scale: scale)
            #expect(abs(Double(stamps.count) - ((place - 100 * scale) / scale / 0.5 + 1)) <= 1, "seed \(random.seed)")
            for (a, b) in zip(stamps, stamps.dropFirst()) {
                #expect(abs(Double(b.x - a.x) - 0.5 * scale) < 0.01, "seed \(random.seed)")
                #expect(a.alpha == Float(1 / 1.5) && a.count == 1)
            }
            for chunk in [1, 2, 7] { #expect(self.stamps(line, chunk: chunk, scale: scale) == stamps) }
        }
    }

    @Test func `of a wide brush are as many as ever, some set as one no farther apart than a 64th of the radius`() {
        let radius: Float = 200
        let line = [0.0, 300, 301, 302, 900].map { CentreSample(x: Float($0), y: 0, radius: radius) }
        let stamps = stamps(line)
        #expect(stamps.reduce(0) { $0 + $1.count } == 1801)
        #expect(stamps.count < 1801 / 4)
        for (a, b) in zip(stamps, stamps.dropFirst()) { #expect(b.x - a.x <= radius / 64 + 0.001) }
    }

    @Test func `of a line that goes nowhere are a dot`() {
        let place = CentreSample(x: 5, y: 5, radius: 3)
        for count in [1, 2, 5] {
            for chunk in [1, 3] {
                let stamps = stamps([CentreSample](repeating: place, count: count), chunk: chunk)
                #expect(stamps.map(\.count) == [StampPlacer.dotStamps])
            }
        }
    }

    @Test func `are full to a fifth of the brush and fade to nothing`() {
        #expect(Stamp.brush(0) == 1)
        #expect(Stamp.brush(6.0 / 32) == 1)
        #expect(abs(Stamp.brush(18.0 / 32) - 0.5) < 1e-6)
        #expect(Stamp.brush(30.0 / 32) == 0)
        #expect(Stamp.brush(2) == 0)
    }

    @Test func `are set only where they can be seen, however far the line reaches`() {
        let line = [-65536.0, 65536].map { CentreSample(x: Float($0), y: 50, radius: 2) }
        let count = stamps(line, canvas: 100).count
        #expect(count > 190 && count < 220)
    }
}

@Suite struct `A stroke fed in chunks` {
    private static let elements: [Element] = [.freehand, .line, .ellipse, .rectangle, .eraser]

    @Test(arguments: InkStyle.allCases) func `gives the same path whatever the chunks`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<400 {
            var points = [StrokePoint].random(count: Int.random(in: 0...60, using: &random), using: &random)
            for index in points.indices where Bool.random(using: &random) {
                points[index].azimuth = Double.random(in: 0...6.28, using: &random)
            }
            let tip = InkTip.allCases[round % InkTip.allCases.count]
            for element in Self.elements {
                let width = Double.random(in: 0.1...20, using: &random)
                var whole = Recorder()
                InkStroke(element: element, style: style, width: width, points: points, tip: tip).trace(into: &whole)

                var cut = Recorder()
                var tracer = StrokeTracer(element: element, style: style, width: width, tip: tip)
                var rest = points[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 0...min(rest.count, 9), using: &random)
                    tracer.add(rest.prefix(count), into: &cut)
                    rest = rest.dropFirst(count)
                    // A look at the unfinished stroke changes nothing.
                    var preview = Recorder()
                    tracer.finish(into: &preview)
                }
                tracer.finish(into: &cut)
                #expect(whole == cut, "seed \(random.seed), round \(round), \(element)")
            }
        }
    }

    @Test(arguments: InkStyle.allCases) func `is drawn from the first point up to the last`(style: InkStyle) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for count in 1...40 {
            let points = [StrokePoint].random(count: count, using: &random)
            var recorder = Recorder()
            InkStroke(element: .freehand, style: style, width: 4, points: points).trace(into: &recorder)
            let first = try #require(points.first)
            let last = try #require(points.last)
            guard case .begin(let start, _) = recorder.segments.first else {
                throw Unexpected("seed \(random.seed), \(count) points: nothing was drawn")
            }
            let end = try #require(recorder.end)
            #expect((start - Vector(first.x, first.y)).length < 1e-9, "seed \(random.seed), \(count) points")
            #expect((end - Vector(last.x, last.y)).length < 1e-9, "seed \(random.seed), \(count) points")
        }
    }

    @Test(arguments: InkStyle.allCases) func `of no points is nothing`(style: InkStyle) {
        for element in Self.elements {
            var recorder = Recorder()
            InkStroke(element: element, style: style, width: 4, points: []).trace(into: &recorder)
            #expect(recorder.segments.isEmpty)
        }
    }
}
