internal import StrokeWire

/// The `pen` style, and the way of the `stamp` style: a curve through all points; the slower or harder the pen, the
/// wider and darker the line. After Adam Wulf, JotUI and DrawUI.
///
/// The pressure is the force, or 1 − v, where v is the speed between 20 and 3000 units a second brought to 0 … 1. The
/// width goes from ½ to 1½ times that of the stroke and the opacity from 0.7 to 1.
struct PenCurve: Sendable {
    private struct Stop: Sendable {
        var place: Vector
        var nib: Nib
    }

    private let width: Double
    private var clock = PointClock()
    private var p0: Stop?
    private var p1: Stop?
    private var p2: Stop?

    init(width: Double) {
        self.width = width
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let speed = clock.speed(to: point)
        let pressure = point.force ?? 1 - (min(max(speed, 20), 3000) - 20) / 2980
        let stop = Stop(place: Vector(point.x, point.y), nib: nib(pressure))
        if p1 == nil {
            p1 = stop
        } else if p2 == nil {
            // A first point without force has no speed; it is as wide as the second.
            if point.force == nil { p1?.nib = stop.nib }
            p2 = stop
            if let p1 { sink.begin(at: p1.place, nib: p1.nib) }
        } else {
            draw(next: stop, into: &sink)
            (p0, p1, p2) = (p1, p2, stop)
        }
    }

    func finish(into sink: inout some CurveSink) {
        if p2 != nil {
            draw(next: nil, into: &sink)
        } else if let p1 {
            sink.begin(at: p1.place, nib: p1.nib)
        }
    }

    private func draw(next p3: Stop?, into sink: inout some CurveSink) {
        guard let p1, let p2 else { return }
        let curve = ThroughCurve((p0 ?? p1).place, p1.place, p2.place, (p3 ?? p2).place)
        sink.cubic(control1: curve.control1, control2: curve.control2, to: p2.place, nib: p2.nib)
    }

    private func nib(_ pressure: Double) -> Nib {
        Nib(width: width * (0.5 + pressure), opacity: 0.7 + 0.3 * pressure)
    }
}
