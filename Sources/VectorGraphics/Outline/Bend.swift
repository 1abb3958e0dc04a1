internal import Ink

/// How the sides of a ribbon go from one step to the next.
struct Bend {
    private let a: DiscStep
    private let b: DiscStep
    /// Whether one corner on either side, halfway between both sides, will do.
    private let isGentle: Bool
    private let turnsRight: Bool

    /// - Parameter tolerance: how far the outer corner may be inside the disc, in board units.
    init(_ a: DiscStep, _ b: DiscStep, _ tolerance: Double) {
        self.a = a
        self.b = b
        let radius = a.to.radius
        let cosine = a.forward.dot(b.forward)
        let sine = a.forward.cross(b.forward)
        turnsRight = sine >= 0
        // The corner is inside by the sagitta of half the turn. The inner sides are shorter by the tangent of it, and
        // must not fold.
        let sagitta = radius * (1 - (max(1 + cosine, 0) * 0.5).squareRoot())
        isGentle =
            cosine > 0 && sagitta < tolerance && radius * abs(sine) / (1 + cosine) < 0.45 * min(a.length, b.length)
    }

    /// Continues on the left side, from `a` to `b`.
    func traceLeft(into sink: inout some ContourSink) {
        trace(from: a.left, to: b.left, isOuter: turnsRight, into: &sink)
    }

    /// Continues on the right side, from `b` back to `a`.
    func traceRight(into sink: inout some ContourSink) {
        trace(from: -b.left, to: -a.left, isOuter: !turnsRight, into: &sink)
    }

    private func trace(from start: Vector, to end: Vector, isOuter: Bool, into sink: inout some ContourSink) {
        let centre = a.to.centre
        let radius = a.to.radius
        guard !isGentle else {
            let middle = start + end
            return sink.line(to: centre + middle * (radius / middle.length))
        }
        sink.line(to: centre + start * radius)
        if isOuter {
            // Outwards also where the line turns right back, and both sides point away from each other.
            let outward = a.forward - b.forward
            let middle = outward / max(outward.length, 1e-9)
            sink.arc(around: centre, radius: radius, from: start, to: middle)
            sink.arc(around: centre, radius: radius, from: middle, to: end)
        } else {
            sink.line(to: centre)
            sink.line(to: centre + end * radius)
        }
    }
}
