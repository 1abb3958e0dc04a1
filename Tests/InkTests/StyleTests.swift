import Ink
import StrokeWire
import Testing

@Suite("Styles")
struct StyleTests {
    private func trace(_ style: InkStyle, width: Double = 16, _ points: [StrokePoint]) -> [Recorder.Piece] {
        var recorder = Recorder()
        InkStroke(element: .freehand, style: style, width: width, points: points).trace(into: &recorder)
        return recorder.pieces
    }

    private func points(_ places: [(Double, Double)]) -> [StrokePoint] {
        places.map { StrokePoint(x: $0.0, y: $0.1) }
    }

    private func expectNear(_ a: Vector, _ b: Vector, within tolerance: Double = 1e-6) {
        #expect((a - b).length < tolerance, "\(a) is not \(b)")
    }

    @Test("The B-spline segment has the places and directions of the specification's check, and so has its Bézier")
    func bsplineCheck() {
        let segment = BSplineSegment(Vector(0, 0), Vector(6, 0), Vector(12, 6), Vector(18, 6))
        expectNear(segment.point(at: 0), Vector(6, 1))
        expectNear(segment.point(at: 0.5), Vector(9, 3))
        expectNear(segment.point(at: 1), Vector(12, 5))
        expectNear(segment.derivative(at: 0), Vector(6, 3))
        expectNear(segment.derivative(at: 1), Vector(6, 3))
        let (b0, b1, b2, b3) = segment.bezier
        for step in 0...10 {
            let t = Double(step) / 10
            let u = 1 - t
            let place = b0 * (u * u * u) + b1 * (3 * u * u * t) + b2 * (3 * u * t * t) + b3 * (t * t * t)
            expectNear(place, segment.point(at: t))
        }
        #expect(segment.stepCount(step: 2) == 5)
        #expect(segment.stepCount(step: 100) == 1)
    }

    @Test("The curve through the points has the controls of the specification's check, up to the closing piece")
    func throughCurveCheck() {
        let p = [Vector(100, 100), Vector(200, 150), Vector(300, 150), Vector(400, 100), Vector(500, 120)]
        let controls: [(Vector, Vector)] = [
            (Vector(135, 117.5), Vector(163.049517, 140.762379)),
            (Vector(233.049517, 158.262379), Vector(266.950483, 158.262379)),
            (Vector(336.950483, 140.762379), Vector(363.391808, 105.491229)),
            (Vector(433.391808, 94.991229), Vector(465, 113)),
        ]
        for (index, (one, other)) in controls.enumerated() {
            let curve = ThroughCurve(p[max(index - 1, 0)], p[index], p[index + 1], p[min(index + 2, 4)])
            expectNear(curve.control1, one)
            expectNear(curve.control2, other)
        }
        let pieces = trace(.pen, points(p.map { ($0.x, $0.y) }))
        #expect(pieces.count == 5)
        for (piece, (one, other)) in zip(pieces.dropFirst(), controls) {
            guard case .cubic(let control1, let control2, _, _) = piece else {
                Issue.record("not a cubic: \(piece)")
                continue
            }
            expectNear(control1, one)
            expectNear(control2, other)
        }
    }

    @Test("Coincident points take the anchor as control and never a number that is none")
    func coincident() {
        let curve = ThroughCurve(Vector(1, 1), Vector(1, 1), Vector(1, 1), Vector(1, 1))
        #expect(curve.control1 == Vector(1, 1) && curve.control2 == Vector(1, 1))
        for style in InkStyle.allCases {
            for piece in trace(style, points([(5, 5), (5, 5), (5, 5), (9, 9), (9, 9), (9, 9), (5, 5)])) {
                if case .cubic(let a, let b, let c, let nib) = piece {
                    let sum = a + b + c
                    #expect(sum.x.isFinite && sum.y.isFinite && nib.width.isFinite)
                }
            }
        }
    }

    @Test("One point is a dot of the line width", arguments: InkStyle.allCases)
    func dot(style: InkStyle) {
        let pieces = trace(style, points([(7, 8)]))
        #expect(pieces.count == 1)
        guard case .begin(let place, let nib) = pieces.first else {
            Issue.record("not a dot")
            return
        }
        #expect(place == Vector(7, 8))
        #expect(nib.width >= 16 && nib.width <= 24)
    }

    @Test("The quadratic style goes from midpoint to midpoint around the points, three of them are one piece")
    func quadratic() {
        let nib = Nib(width: 16)
        #expect(
            trace(.quadratic, points([(0, 0), (10, 0), (20, 10)])) == [
                .begin(Vector(0, 0), nib), .quadratic(Vector(10, 0), Vector(20, 10), nib),
            ])
        #expect(
            trace(.quadratic, points([(0, 0), (10, 0), (20, 10), (40, 10), (40, 0)])) == [
                .begin(Vector(0, 0), nib), .quadratic(Vector(10, 0), Vector(15, 5), nib),
                .quadratic(Vector(20, 10), Vector(30, 10), nib), .quadratic(Vector(40, 10), Vector(40, 0), nib),
            ])
    }

    @Test("Calligraphy takes its width from the force, eased from the third point on")
    func calligraphyForce() {
        let forces = [0.0, 1, 0.5, 0.5]
        let strokes = forces.enumerated().map { StrokePoint(x: Double($0) * 10, y: 0, force: $1) }
        var sizes = [1.0, 40]
        sizes.append(0.2 * 20.5 + 0.8 * sizes[1])
        sizes.append(0.2 * 20.5 + 0.8 * sizes[2])
        let pieces = trace(.calligraphy, strokes)
        guard case .begin(_, let first) = pieces.first, case .quadratic(_, _, let last) = pieces.last else {
            Issue.record("unexpected pieces")
            return
        }
        #expect(first.width == 1)
        #expect(abs(last.width - sizes[3]) < 1e-9)
    }

    @Test("Calligraphy takes its width from the speed where there is no force")
    func calligraphySpeed() {
        // 100 units in 100 ms are 1000 units a second.
        let stroke = [StrokePoint(x: 0, y: 0, milliseconds: 0), StrokePoint(x: 100, y: 0, milliseconds: 100)]
        guard case .line(_, let nib) = trace(.calligraphy, stroke).last else {
            Issue.record("not a line")
            return
        }
        #expect(abs(nib.width - 1000.0 / 166) < 1e-9)
    }

    @Test("The pen is widest and darkest when slow or pressed hard")
    func pen() {
        func last(_ point: StrokePoint) -> Nib? {
            let start = StrokePoint(x: 0, y: 0, force: point.force.map { _ in 0.5 }, milliseconds: 0)
            guard case .cubic(_, _, _, let nib) = trace(.pen, [start, point]).last else { return nil }
            return nib
        }
        #expect(last(StrokePoint(x: 0.01, y: 0, milliseconds: 1000)) == Nib(width: 24, opacity: 1))
        #expect(last(StrokePoint(x: 9000, y: 0, milliseconds: 1000))?.width == 8)
        #expect(last(StrokePoint(x: 9000, y: 0, force: 1, milliseconds: 1000)) == Nib(width: 24, opacity: 1))
    }

    @Test("The B-spline is thinner the farther the points lie apart")
    func bsplineWidth() {
        guard case .cubic(_, _, _, let near) = trace(.bspline, points([(0, 0), (1, 0), (2, 0)])).last,
            case .cubic(_, _, _, let far) = trace(.bspline, points([(0, 0), (40, 0), (80, 0)])).last
        else {
            Issue.record("not a cubic")
            return
        }
        #expect(near.width > far.width)
        #expect(far.width > 8 && near.width < 20)
    }
}
