import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("Parabolas")
struct ParabolaFitterTests {
    private var fitter = ParabolaFitter(scale: 1, canvasWidth: 400, canvasHeight: 400)

    @Test(arguments: [0.5, 3.5, 12, 40])
    mutating func `have edges that are nearly parabolas, too, however sharp a curve turns`(radius: Double) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<300 {
            let size = Double.random(in: 1...60, using: &random)
            func place() -> Vector {
                Vector(Double.random(in: 0...size, using: &random), Double.random(in: 0...size, using: &random))
            }
            fitter.reset()
            fitter.begin(at: place(), nib: Nib(width: 2 * radius))
            fitter.cubic(control1: place(), control2: place(), to: place(), nib: Nib(width: 2 * radius))
            for (start, end) in zip(fitter.samples, fitter.samples.dropFirst()) {
                let parabola = Parabola(start: start, end: end)
                for offset in [radius, -radius] {
                    #expect(parabola.largestMiss(of: offset) < 0.06, "seed \(random.seed): \(parabola)")
                }
            }
        }
    }

    @Test mutating func `turn by less than a right angle, also where a curve turns back on itself`() {
        fitter.begin(at: Vector(100, 100), nib: Nib(width: 0.2))
        fitter.quadratic(control: Vector(200, 100.5), to: Vector(100, 101), nib: Nib(width: 0.2))
        fitter.quadratic(control: Vector(200, 101), to: Vector(100, 101), nib: Nib(width: 0.2))
        #expect(fitter.samples.contains { $0.x > 149 })
        for (start, end) in zip(fitter.samples, fitter.samples.dropFirst()) {
            let parabola = Parabola(start: start, end: end)
            #expect(parabola.direction(0).dot(parabola.direction(1)) > 0)
        }
    }
}

/// A parabola between two samples.
private struct Parabola: CustomStringConvertible {
    let start, way, sag: Vector

    init(start: CentreSample, end: CentreSample) {
        self.start = Vector(Double(start.x), Double(start.y))
        way = Vector(Double(end.x), Double(end.y)) - self.start
        sag = Vector(Double(end.sagX), Double(end.sagY))
    }

    var description: String { "\(way) with \(sag)" }

    func direction(_ t: Double) -> Vector { way + sag * (4 * (1 - 2 * t)) }

    private func edge(_ t: Double, _ radius: Double) -> Vector {
        let direction = direction(t)
        let across = Vector(direction.y, -direction.x) * (radius / max(direction.length, 1e-9))
        return start + way * t + sag * (4 * t * (1 - t)) + across
    }

    /// Whether the edge goes backwards somewhere: the inner one of a bend tighter than the radius, deep in the ink.
    private func turnsBack(_ radius: Double) -> Bool {
        (0..<32).contains { step in
            let (t, next) = (Double(step) / 32, Double(step + 1) / 32)
            return (edge(next, radius) - edge(t, radius)).dot(direction(t)) < 0
        }
    }

    /// How far the edge gets from the parabola through its ends and its middle.
    func largestMiss(of radius: Double) -> Double {
        // The places of samples are too coarse to tell the direction of shorter ones.
        guard sag.length > 0, way.length > 0.05, !turnsBack(radius) else { return 0 }
        let (begin, middle, end) = (edge(0, radius), edge(0.5, radius), edge(1, radius))
        let edgeSag = middle - begin.midpoint(to: end)
        let steps = 200
        let parabola = (0...steps).map { step in
            let t = Double(step) / Double(steps)
            return begin + (end - begin) * t + edgeSag * (4 * t * (1 - t))
        }
        return (1..<16).reduce(0) { worst, step in
            let place = edge(Double(step) / 16, radius)
            let nearest = zip(parabola, parabola.dropFirst()).reduce(Double.infinity) { nearest, chord in
                min(nearest, place.distance(fromLine: chord.0, chord.1))
            }
            return max(worst, nearest)
        }
    }
}

@Suite("Flattening")
struct FlatteningTests {
    @Test(arguments: [0.5, 1, 4]) func `keeps the width of a quadratic whose width is quadratic, too`(scale: Double) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<200 {
            func sample() -> PenSample {
                PenSample(
                    position: Vector(
                        Double.random(in: 0...200, using: &random), Double.random(in: 0...200, using: &random)),
                    nib: Nib(width: Double.random(in: 1...12, using: &random)))
            }
            let segment = SwellingQuadratic(start: sample(), control: sample(), end: sample())
            var fitter = ParabolaFitter(scale: scale, canvasWidth: 800, canvasHeight: 800)
            fitter.begin(at: segment.start.position, nib: segment.start.nib)
            fitter.quadratic(segment)
            let line = fitter.samples.flattened()
            for step in 0...16 {
                let wanted = segment.sample(at: Double(step) / 16)
                let nearest = zip(line, line.dropFirst()).map { a, b in
                    Self.miss(wanted.position * scale, wanted.nib.width * scale / 2, from: a, to: b)
                }.min()
                #expect(
                    nearest.map { $0 < 0.2 } == true, "seed \(random.seed), round \(round), \(step): \(nearest ?? -1)")
            }
            #expect(line.last.map { $0.radius == Float(segment.end.nib.width * scale / 2) } == true)
        }
    }

    /// How far a disc is from the nearest of a chord, in place and in radius together.
    private static func miss(_ place: Vector, _ radius: Double, from a: CentreSample, to b: CentreSample) -> Double {
        let start = Vector(Double(a.x), Double(a.y))
        let way = Vector(Double(b.x), Double(b.y)) - start
        let square = way.dot(way)
        let at = square > 0 ? min(max((place - start).dot(way) / square, 0), 1) : 0
        let there = Double(a.radius) + Double(b.radius - a.radius) * at
        return (place - start - way * at).length + abs(there - radius)
    }

    @Test func `keeps every chord within a tenth of a pixel of the curve, and the nib`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<200 {
            func place() -> Vector {
                Vector(Double.random(in: 0...400, using: &random), Double.random(in: 0...400, using: &random))
            }
            let (start, control1, control2, end) = (place(), place(), place(), place())
            func draw(_ sink: inout some CurveSink) {
                sink.begin(at: start, nib: Nib(width: 1))
                sink.cubic(control1: control1, control2: control2, to: end, nib: Nib(width: 3, opacity: 0.5))
            }
            var fitter = ParabolaFitter(scale: 2, canvasWidth: 800, canvasHeight: 800)
            draw(&fitter)
            let line = fitter.samples.flattened()
            #expect(line.allSatisfy { $0.sagX == 0 && $0.sagY == 0 })
            var reference = Flattener(scale: 2, tolerance: 0.001)
            draw(&reference)
            func place(_ sample: CentreSample) -> Vector { Vector(Double(sample.x), Double(sample.y)) }
            for sample in reference.samples {
                let nearest = zip(line, line.dropFirst()).map { a, b in
                    place(sample).distance(fromLine: place(a), place(b))
                }.min()
                #expect(nearest.map { $0 < 0.11 } == true, "seed \(random.seed)")
            }
            for (a, b) in zip(line, line.dropFirst()) {
                #expect(a.radius <= b.radius && a.opacity >= b.opacity, "seed \(random.seed)")
            }
            #expect(line.first.map { $0.radius == 1 && $0.opacity == 1 } == true)
            #expect(line.last.map { $0.radius == 3 && $0.opacity == 0.5 } == true)
        }
    }
}

/// Records what a tracer sends, segment by segment.
struct Recorder: CurveSink, Equatable {
    enum Segment: Equatable {
        case begin(Vector, Nib)
        case line(Vector, Nib)
        case quadratic(Vector, Vector, Nib)
        case swelling(Vector, Nib, Vector, Nib)
        case cubic(Vector, Vector, Vector, Nib)
    }

    var segments: [Segment] = []

    mutating func begin(at point: Vector, nib: Nib) { segments.append(.begin(point, nib)) }
    mutating func line(to end: Vector, nib: Nib) { segments.append(.line(end, nib)) }
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        segments.append(.quadratic(control, end, nib))
    }
    mutating func quadratic(_ segment: SwellingQuadratic) {
        segments.append(.swelling(segment.control.position, segment.control.nib, segment.end.position, segment.end.nib))
    }
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        segments.append(.cubic(control1, control2, end, nib))
    }

    /// Where the pen was last.
    var end: Vector? {
        switch segments.last {
        case .begin(let point, _), .line(let point, _), .quadratic(_, let point, _), .swelling(_, _, let point, _),
            .cubic(_, _, let point, _):
            point
        case nil: nil
        }
    }
}

func trace(_ style: InkStyle, width: Double = 16, _ points: [StrokePoint]) -> [Recorder.Segment] {
    var recorder = Recorder()
    InkStroke(element: .freehand, style: style, width: width, points: points).trace(into: &recorder)
    return recorder.segments
}

/// Points without the state of a pen.
func points(_ places: [(Double, Double)]) -> [StrokePoint] { places.map { StrokePoint(x: $0.0, y: $0.1) } }

extension Recorder.Segment {
    var nib: Nib {
        switch self {
        case .begin(_, let nib), .line(_, let nib), .quadratic(_, _, let nib), .swelling(_, _, _, let nib),
            .cubic(_, _, _, let nib):
            nib
        }
    }
}

func cubicPoint(_ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector, at t: Double) -> Vector {
    let u = 1 - t
    let early = a * (u * u * u) + b * (3 * u * u * t)
    return early + c * (3 * u * t * t) + d * (t * t * t)
}
