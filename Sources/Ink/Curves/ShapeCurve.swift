/// The outline of a shape between the first and the last point of a stroke; other points are ignored.
struct ShapeCurve: Sendable {
    enum Kind: Sendable { case line, rectangle, ellipse, arrow }

    private let kind: Kind
    private let nib: Nib
    private var first: Vector?
    private var last = Vector.zero

    init(kind: Kind, width: Double) {
        self.kind = kind
        nib = Nib(width: width)
    }

    mutating func add(_ point: Vector) {
        if first == nil { first = point }
        last = point
    }

    /// Draws the outline; begin = end is a dot.
    func finish(into sink: inout some CurveSink) {
        guard let first else { return }
        guard first != last else { return sink.begin(at: first, nib: nib) }
        switch kind {
        case .line:
            sink.begin(at: first, nib: nib)
            sink.line(to: last, nib: nib)
        case .rectangle:
            rectangle(from: first, into: &sink)
        case .ellipse:
            ellipse(from: first, into: &sink)
        case .arrow:
            arrow(from: first, into: &sink)
        }
    }

    private func arrow(from first: Vector, into sink: inout some CurveSink) {
        sink.begin(at: first, nib: nib)
        for corner in ArrowShape.corners(from: first, to: last, width: nib.width) { sink.line(to: corner, nib: nib) }
    }

    private func rectangle(from first: Vector, into sink: inout some CurveSink) {
        sink.begin(at: first, nib: nib)
        sink.line(to: Vector(last.x, first.y), nib: nib)
        sink.line(to: last, nib: nib)
        sink.line(to: Vector(first.x, last.y), nib: nib)
        sink.line(to: first, nib: nib)
    }

    /// Four cubic arcs, one a quadrant: at most 0.03 % of a radius away from the true ellipse, without a sine.
    private func ellipse(from first: Vector, into sink: inout some CurveSink) {
        let centre = first.midpoint(to: last)
        let right = Vector((last.x - first.x) * 0.5, 0)
        let down = Vector(0, (last.y - first.y) * 0.5)
        sink.begin(at: centre + right, nib: nib)
        quadrant(around: centre, from: right, to: down, into: &sink)
        quadrant(around: centre, from: down, to: -right, into: &sink)
        quadrant(around: centre, from: -right, to: -down, into: &sink)
        quadrant(around: centre, from: -down, to: right, into: &sink)
    }

    private func quadrant(around centre: Vector, from start: Vector, to end: Vector, into sink: inout some CurveSink) {
        // 4/3 · (√2 − 1): the cubic meets the circle in its middle as well.
        let handle = 0.552_284_749_830_793_4
        sink.cubic(
            control1: centre + start + end * handle, control2: centre + end + start * handle, to: centre + end, nib: nib
        )
    }
}

/// A line with a head at its end: the border of the head and the line, drawn as wide as the line, cover all of the head.
package enum ArrowShape {
    /// The shortest head in board units; else it is four line widths long. It is three wide.
    private static let shortestHead = 10.0

    /// The corners that the line goes on to, which all ink ends behind: the tip, both corners at the back, and the tip again.
    /// - Parameters:
    ///   - first, last: where they are as good as one point, there are no corners.
    ///   - width: of the line, in board units.
    package static func corners(from first: Vector, to last: Vector, width: Double) -> [Vector] {
        let way = last - first
        // The squares of shorter ways underflow.
        guard way.length > 0 else { return [] }
        let along = way / way.length
        let across = Vector(-along.y, along.x) * width
        let tip = last - along * (width * 0.5)
        let back = last - along * (max(4 * width, shortestHead) - width * 0.5)
        return [tip, back + across, back - across, tip]
    }
}
