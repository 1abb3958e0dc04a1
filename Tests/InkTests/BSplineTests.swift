import Ink
import TestSupport
import Testing

@Suite("The bspline style")
struct BSplineTests {
    /// The formula of the specification.
    private func spline(_ q: [Vector], at t: Double) -> Vector {
        let u = 1 - t
        let early = q[0] * (u * u * u) + q[1] * (3 * t * t * t - 6 * t * t + 4)
        return (early + q[2] * (-3 * t * t * t + 3 * t * t + 3 * t + 1) + q[3] * (t * t * t)) / 6
    }

    @Test("has the places and directions of the specification's check")
    func checkValue() {
        let s = BSplineSegment(Vector(0, 0), Vector(6, 0), Vector(12, 6), Vector(18, 6))
        #expect((s.start - Vector(6, 1)).length < 1e-12)
        #expect((cubicPoint(s.start, s.control1, s.control2, s.end, at: 0.5) - Vector(9, 3)).length < 1e-12)
        #expect((s.end - Vector(12, 5)).length < 1e-12)
        #expect(((s.control1 - s.start) * 3 - Vector(6, 3)).length < 1e-12)
        #expect(((s.end - s.control2) * 3 - Vector(6, 3)).length < 1e-12)
    }

    @Test("is the spline of the formula for any control points")
    func formula() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let q = (0..<4).map { _ in
                Vector(Double.random(in: -99...99, using: &random), Double.random(in: -99...99, using: &random))
            }
            let s = BSplineSegment(q[0], q[1], q[2], q[3])
            for t in stride(from: 0.0, through: 1, by: 0.125) {
                let place = cubicPoint(s.start, s.control1, s.control2, s.end, at: t)
                #expect((place - spline(q, at: t)).length < 1e-9, "seed \(seed)")
            }
        }
    }

    @Test("joins its segments without a gap, n + 1 of them for n points")
    func continuous() {
        let places = [(0.0, 0.0), (10, 3), (20, -8), (33, 4), (40, 40)]
        let q = places.map { Vector($0.0, $0.1) }
        let all = [q[0], q[0]] + q + [q[4], q[4]]
        let pieces = trace(.bspline, points(places)).dropFirst()
        #expect(pieces.count == 6)
        for (index, piece) in pieces.enumerated() {
            let s = BSplineSegment(all[index], all[index + 1], all[index + 2], all[index + 3])
            guard case .cubic(let one, let other, let end, _) = piece else {
                Issue.record("no cubic")
                continue
            }
            #expect(one == s.control1 && other == s.control2 && end == s.end)
        }
    }

    @Test("is thinner the farther the points lie apart: l at rest, ¾ l at 8 units, never below ½ l")
    func width() {
        func width(_ distance: Double) -> Double? {
            trace(.bspline, points((0..<5).map { (Double($0) * distance, 0) })).last?.nib.width
        }
        #expect(width(0) == 16)
        #expect(width(8) == 12)
        #expect(width(60_000).map { $0 > 8 && $0 < 8.01 } == true)
    }
}
