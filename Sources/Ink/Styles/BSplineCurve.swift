/// The `bspline` style: a uniform cubic B-spline through which the points pull the line; both end points count three
/// times, so that it reaches them. After Explain Everything, "Ink".
///
/// The width at a point is l·(½ + ¾·8/(8 + d)) for d board units to the point before: 1.25·l for a resting pen, ½·l in
/// the limit. It changes linearly along each segment.
struct BSplineCurve: Sendable {
    private struct Knot: Sendable {
        var place: Vector
        var width: Double
    }

    private let width: Double
    private var a = Knot(place: .zero, width: 0)
    private var b = Knot(place: .zero, width: 0)
    private var c = Knot(place: .zero, width: 0)
    private var count = 0

    init(width: Double) {
        self.width = width
    }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        guard count > 0 else {
            c = Knot(place: point, width: width)
            count = 1
            return
        }
        let knot = Knot(place: point, width: width * (0.5 + 6 / (8 + (point - c.place).length)))
        if count == 1 {
            // The first point is as wide as the way to the second says.
            c.width = knot.width
            (a, b) = (c, c)
            sink.begin(at: c.place, nib: Nib(width: c.width))
        }
        count = 2
        push(knot, into: &sink)
    }

    func finish(into sink: inout some CurveSink) {
        switch count {
        case 0: break
        case 1: sink.begin(at: c.place, nib: Nib(width: width))
        default:
            var rest = self
            rest.push(c, into: &sink)
            rest.push(c, into: &sink)
        }
    }

    private mutating func push(_ d: Knot, into sink: inout some CurveSink) {
        let curve = BSplineSegment(a.place, b.place, c.place, d.place).bezier
        // Three equal points come to rest on them, without the rounding of the weights.
        let end = c.place == d.place && b.place == c.place ? c.place : curve.end
        sink.cubic(control1: curve.control1, control2: curve.control2, to: end, nib: Nib(width: c.width))
        (a, b, c) = (b, c, d)
    }
}
