import Ink
import StrokeWire
import TestSupport
import Testing

/// The tests of Ink trace strokes into a `Recorder` and compare the segments with the check values of the specification and
/// with independent formulas. `Model` tests strokes that are being drawn.
@Suite struct `The bspline style` {
    /// The formula of the specification.
    private func spline(_ q: [Vector], at t: Double) -> Vector {
        let u = 1 - t
        let early = q[0] * (u * u * u) + q[1] * (3 * t * t * t - 6 * t * t + 4)
        return (early + q[2] * (-3 * t * t * t + 3 * t * t + 3 * t + 1) + q[3] * (t * t * t)) / 6
    }

    @Test func `is the spline of the formula for any control points`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<200 {
            let q = (0..<4).map { _ in
                Vector(Double.random(in: -99...99, using: &random), Double.random(in: -99...99, using: &random))
            }
            let s = BSplineSegment(q[0], q[1], q[2], q[3])
            for t in stride(from: 0.0, through: 1, by: 0.125) {
                let place = cubicPoint(s.start, s.control1, s.control2, s.end, at: t)
                #expect((place - spline(q, at: t)).length < 1e-9, "seed \(random.seed)")
            }
        }
    }

    @Test func `is thinner the farther the points lie apart: l at rest, ¾ l at 8 units, never below ½ l`() {
        func width(_ distance: Double) -> Double? {
            trace(.bspline, points((0..<5).map { (Double($0) * distance, 0) })).last?.nib.width
        }
        #expect(width(0) == 16)
        #expect(width(8) == 12)
        #expect(width(60_000).map { $0 > 8 && $0 < 8.01 } == true)
    }
}

@Suite struct `The calligraphy style` {
    /// The stated share of the line width.
    private func share(_ size: Double, _ middle: Double, _ steepness: Int) -> Double {
        let power = (0..<steepness).reduce(1.0) { power, _ in power * size / middle }
        return 0.4 + 1.2 * power / (1 + power)
    }

    @Test
    func `has the width of force · 39 + 1, from the third point on a fifth of it, in the basis of its quadratics`() {
        let forces = [0.5, 1, 0.25, 0.75, 0]
        let stroke = forces.enumerated().map { StrokePoint(x: Double($0) * 10, y: 0, force: $1) }
        var sizes = [20.5, 40]
        for fresh in [10.75, 30.25, 1] { sizes.append(0.2 * fresh + 0.8 * sizes[sizes.count - 1]) }
        let widths = sizes.map { 32 * share($0, 14, 2) }
        let segments = trace(.calligraphy, width: 32, stroke)
        #expect(segments.count == 4)
        #expect(segments.first.map { abs($0.nib.width - widths[0]) < 1e-9 } == true)
        for (index, segment) in segments.dropFirst().enumerated() {
            guard case .swelling(_, let control, _, let end) = segment else {
                Issue.record("\(segment)")
                continue
            }
            #expect(abs(control.width - widths[index + 1]) < 1e-9)
            #expect(abs(end.width - (index == 2 ? widths[4] : (widths[index + 1] + widths[index + 2]) / 2)) < 1e-9)
        }
    }

    @Test(
        "has the width of speed / 166 within 1 … 40 where there is no force: l at 249 units a second",
        arguments: [(249.0, 1.5), (300.0, 300.0 / 166), (120.0, 1.0), (9000.0, 40.0)])
    func speed(speed: Double, size: Double) {
        let stroke = [StrokePoint(x: 0, y: 0, milliseconds: 0), StrokePoint(x: speed, y: 0, milliseconds: 1000)]
        #expect(trace(.calligraphy, stroke).allSatisfy { abs($0.nib.width - 16 * share(size, 1.5, 10)) < 1e-9 })
        // Without times: 60 points a second.
        let untimed = points([(0, 0), (speed / 60, 0)])
        #expect(trace(.calligraphy, untimed).allSatisfy { abs($0.nib.width - 16 * share(size, 1.5, 10)) < 1e-9 })
    }

    @Test func `is between 0.4 and 1.6 line widths, however fast or hard the pen`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<200 {
            let points = [StrokePoint].random(count: random.int(2...40), using: &random)
            for segment in trace(.calligraphy, width: 5, points) {
                #expect((2...8).contains(segment.nib.width), "seed \(random.seed)")
            }
        }
    }

    @Test func `looks the same on a board of any size`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        for factor in [0.25, 2, 16] as [Double] {
            let points = [StrokePoint].random(count: 40, using: &random)
            let larger = points.map { point in
                var point = point
                point.x *= factor
                point.y *= factor
                return point
            }
            var (small, large) = (Recorder(), Recorder())
            InkStroke(element: .freehand, style: .calligraphy, width: 3, points: points).trace(into: &small)
            InkStroke(element: .freehand, style: .calligraphy, width: 3 * factor, points: larger, unit: factor)
                .trace(into: &large)
            #expect(small.segments.count == large.segments.count, "seed \(random.seed)")
            for (one, other) in zip(small.segments, large.segments) {
                #expect(abs(one.nib.width * factor - other.nib.width) < 1e-9 * factor, "seed \(random.seed)")
            }
        }
    }

    @Test(
        "of recorded cursive is at least twice as wide in its thickest tenth as in its thinnest",
        .needsRecordedLessons, arguments: [SampleLesson.cursiveShort, .cursiveLong])
    func recorded(lesson: SampleLesson) throws {
        var widths: [Double] = []
        for stroke in try lesson.strokes() where stroke.element == .freehand && stroke.points.count > 1 {
            for segment in trace(.calligraphy, width: 1, stroke.points) { widths.append(segment.nib.width) }
        }
        widths.sort()
        let tenth = widths.count / 10
        #expect(tenth > 100)
        let (thin, thick) = (widths.prefix(tenth).reduce(0, +), widths.suffix(tenth).reduce(0, +))
        print("calligraphy: the thickest tenth of recorded cursive is \(thick / thin) times the thinnest")
        #expect(thick >= 2 * thin)
    }
}

@Suite struct `The pen style` {
    @Test func `takes the anchor as control where points coincide`() {
        let (a, b) = (Vector(1, 1), Vector(9, 5))
        let still = InterpolatingCubic(a, a, a, b)
        #expect(still.control1 == a && still.control2 == a)
        let alone = InterpolatingCubic(a, a, b, b)
        #expect((alone.control1 - a.interpolated(to: b, at: 0.35)).length < 1e-12)
        #expect((alone.control2 - b.interpolated(to: a, at: 0.35)).length < 1e-12)
    }

    @Test func `is ½ l wide and 0.7 dark at 3000 units a second, l and opaque at 20, and even between`() {
        func nib(_ speed: Double) -> Nib? {
            trace(.pen, [StrokePoint(x: 0, y: 0, milliseconds: 0), StrokePoint(x: speed, y: 0, milliseconds: 1000)])
                .last?.nib
        }
        #expect(nib(20) == Nib(width: 16, opacity: 1))
        #expect(nib(5) == Nib(width: 16, opacity: 1))
        #expect(nib(1510).map { abs($0.width - 12) < 1e-9 && abs($0.opacity - 0.85) < 1e-9 } == true)
        #expect(nib(3000) == Nib(width: 8, opacity: 0.7))
        #expect(nib(60_000) == Nib(width: 8, opacity: 0.7))
    }

    @Test func `takes 60 points a second where points have no times, and where a clock stands still`() {
        let step = 1510.0 / 60
        for times in [nil, 7] as [Double?] {
            let stroke = [0, step].map { StrokePoint(x: $0, y: 0, milliseconds: times) }
            #expect(trace(.pen, stroke).last.map { abs($0.nib.width - 12) < 1e-9 } == true)
        }
    }

    @Test func `goes by the force of the first point also where the second has none`() {
        let stroke = [StrokePoint(x: 0, y: 0, force: 0.5), StrokePoint(x: 5, y: 0), StrokePoint(x: 9, y: 0)]
        #expect(trace(.pen, stroke).first?.nib == Nib(width: 12, opacity: 0.85))
    }

    @Test func `goes by force where there is one, whatever the speed`() {
        let stroke = [
            StrokePoint(x: 0, y: 0, force: 0.5, milliseconds: 0), StrokePoint(x: 900, y: 0, force: 0, milliseconds: 1),
        ]
        let segments = trace(.pen, stroke)
        #expect(segments.first?.nib == Nib(width: 12, opacity: 0.85))
        #expect(segments.last?.nib == Nib(width: 8, opacity: 0.7))
    }
}

@Suite("Shapes")
struct ShapeTests {
    private let nib = Nib(width: 2)

    private func trace(_ element: Element, _ places: [(Double, Double)]) -> [Recorder.Segment] {
        var recorder = Recorder()
        InkStroke(element: element, style: .smooth, width: 2, points: points(places)).trace(into: &recorder)
        return recorder.segments
    }

    @Test(arguments: [(40.0, 20.0), (-40, 20), (8, -90)])
    func `An ellipse stays within 0.03 % of the true one and closes`(width: Double, height: Double) {
        var flattener = Flattener(scale: 1)
        let points = [StrokePoint(x: 300, y: 300), StrokePoint(x: 300 + width, y: 300 + height)]
        InkStroke(element: .ellipse, style: .smooth, width: 2, points: points).trace(into: &flattener)
        let samples = flattener.samples
        #expect(samples.count > 16)
        #expect(samples.first == samples.last)
        for sample in samples {
            let x = (Double(sample.x) - 300 - width / 2) / (width / 2)
            let y = (Double(sample.y) - 300 - height / 2) / (height / 2)
            #expect(abs((x * x + y * y).squareRoot() - 1) < 0.0004)
        }
    }

    @Test(arguments: [Element.line, .rectangle, .ellipse]) func `Begin = end is a dot`(element: Element) {
        #expect(trace(element, [(4, 4), (8, 8), (4, 4)]) == [.begin(Vector(4, 4), nib)])
        #expect(trace(element, [(4, 4)]) == [.begin(Vector(4, 4), nib)])
    }
}

/// The protocol's test vectors of ink styles: the segments that a client has to draw for a stroke's points.
@Suite struct `The protocol's test vectors of styles` {
    @Test func `trace the stated segments, widths and opacities`() throws {
        let cases = try ProtocolVectors.cases("styles.json", of: StyleVector.self, atLeast: InkStyle.allCases.count)
        #expect(Set(cases.map(\.style)) == Set(InkStyle.allCases.map(\.rawValue)))
        for vector in cases {
            var recorder = Recorder()
            InkStroke(
                element: try #require(Element(rawValue: vector.e)),
                style: try #require(InkStyle(rawValue: vector.style)),
                width: vector.l, points: vector.d.map(\.point)
            ).trace(into: &recorder)
            #expect(recorder.segments.count == vector.segments.count, "\(vector.style), \(vector.name)")
            for (place, (segment, expected)) in zip(recorder.segments, vector.segments).enumerated() {
                #expect(expected.describes(segment), "\(vector.style), \(vector.name), segment \(place): \(segment)")
            }
        }
    }
}

private struct StyleVector: Decodable {
    struct Point: Decodable {
        let x, y: Double
        let f, i, z, m: Double?

        var point: StrokePoint { StrokePoint(x: x, y: y, force: f, altitude: i, azimuth: z, milliseconds: m) }
    }

    struct Segment: Decodable {
        let segment: String
        let control, control1, control2: [Double]?
        let to: [Double]
        let width, opacity: Double
        let controlWidth: Double?

        /// Equal to the six decimals that are given.
        func describes(_ traced: Recorder.Segment) -> Bool {
            let nib = traced.nib
            guard Self.isNear(nib.width, width), Self.isNear(nib.opacity, opacity) else { return false }
            return switch (traced, segment) {
            case (.begin(let end, _), "begin"), (.line(let end, _), "line"): Self.isNear(end, to)
            case (.quadratic(let control, let end, _), "quadratic"):
                Self.isNear(control, self.control) && Self.isNear(end, to)
            case (.swelling(let control, let nib, let end, _), "quadratic"):
                Self.isNear(control, self.control) && Self.isNear(end, to)
                    && controlWidth.map { Self.isNear(nib.width, $0) } == true
            case (.cubic(let control1, let control2, let end, _), "cubic"):
                Self.isNear(control1, self.control1) && Self.isNear(control2, self.control2) && Self.isNear(end, to)
            default: false
            }
        }

        private static func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-6 }

        private static func isNear(_ a: Vector, _ b: [Double]?) -> Bool {
            guard let b, b.count == 2 else { return false }
            return isNear(a.x, b[0]) && isNear(a.y, b[1])
        }
    }

    let name, style: String
    let e: UInt8
    let l: Double
    let d: [Point]
    let segments: [Segment]
}
