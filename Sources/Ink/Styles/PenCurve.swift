internal import StrokeWire

/// The `pen` style, and the way of the `stamp` style: a curve through all points; the slower or harder the pen, the
/// wider and darker the line. After Adam Wulf, JotUI and DrawUI.
///
/// The pressure is the force, or 1 − v, where v is the speed from 20 to 3000 units a second brought to 0 … 1. From the
/// least pressure to the greatest the width goes from ½ · l to l and the opacity from 0.7 to 1. Repeats of a place are
/// left out: they have no direction.
struct PenCurve: Sendable {
    private static let speeds = 20.0...3000.0
    private static let leastWidth = 0.5

    private let width: Double
    private let leastOpacity: Double
    private var clock = PointClock()
    private var p0 = PenStop.none
    private var p1 = PenStop.none
    private var p2 = PenStop.none
    /// How many of p0, p1, p2 are there; once there are three, they are the last three.
    private var count = 0
    private var hasBegun = false
    private var last = Vector.zero

    /// - Parameter leastOpacity: what the least pressure leaves; 1 for an eraser, which is to leave nothing behind.
    init(width: Double, leastOpacity: Double = 0.7) {
        self.width = width
        self.leastOpacity = leastOpacity
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let place = Vector(point.x, point.y)
        guard count == 0 || place != last else { return }
        last = place
        let stop = PenStop(place: place, nib: nib(force: point.force, speed: clock.speed(to: point)))
        switch count {
        case 0: p0 = stop
        case 1:
            // A first point without force has no speed; it is like the second.
            if point.force == nil { p0.nib = stop.nib }
            p1 = stop
        case 2: p2 = stop
        default:
            if !hasBegun {
                sink.begin(at: p0.place, nib: p0.nib)
                Self.draw(p0, p0, p1, p2, into: &sink)
                hasBegun = true
            }
            Self.draw(p0, p1, p2, stop, into: &sink)
            (p0, p1, p2) = (p1, p2, stop)
        }
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        if hasBegun { return Self.draw(p0, p1, p2, p2, into: &sink) }
        switch count {
        case 1: sink.begin(at: p0.place, nib: Nib(width: width))
        case 2:
            sink.begin(at: p0.place, nib: p0.nib)
            sink.line(to: p1.place, nib: p1.nib)
        case 3:
            sink.begin(at: p0.place, nib: p0.nib)
            drawThree(into: &sink)
        default: break
        }
    }

    /// The quadratic through three points, cut at the one in the middle for its nib.
    private func drawThree(into sink: inout some CurveSink) {
        let control = p1.place * 2 - p0.place.midpoint(to: p2.place)
        sink.quadratic(control: p0.place.midpoint(to: control), to: p1.place, nib: p1.nib)
        sink.quadratic(control: control.midpoint(to: p2.place), to: p2.place, nib: p2.nib)
    }

    private func nib(force: Double?, speed: Double?) -> Nib {
        let range = Self.speeds
        let slow = min(max(speed ?? 0, range.lowerBound), range.upperBound)
        let pressure = force ?? (range.upperBound - slow) / (range.upperBound - range.lowerBound)
        return Nib(
            width: width * (Self.leastWidth + pressure * (1 - Self.leastWidth)),
            opacity: leastOpacity + pressure * (1 - leastOpacity))
    }

    private static func draw(
        _ p0: PenStop, _ p1: PenStop, _ p2: PenStop, _ p3: PenStop, into sink: inout some CurveSink
    ) {
        let curve = ThroughCurve(p0.place, p1.place, p2.place, p3.place)
        sink.cubic(control1: curve.control1, control2: curve.control2, to: p2.place, nib: p2.nib)
    }
}
