internal import StrokeWire

/// The `calligraphy` style: quadratics between midpoints; the faster or harder the pen, the wider the line. After
/// Krzysztof Zabłocki, "Smooth drawing".
///
/// A point has the size speed / 166, within 1 … 40, or 1 + 39 · force; from the third on 0.2 of that and 0.8 of the
/// size before. Size 16 is the line width l, so that the width is size · l / 16. The line is nowhere thinner than one
/// board unit, or than l if that is less: small slow writing would vanish. Points closer than 1.5 units to the last are
/// left out, but the end of the stroke is reached. How finely a segment is cut is left to the sink, which knows the
/// resolution.
struct CalligraphyCurve: Sendable {
    private static let minimumDistance = 1.5
    private static let nominalSize = 16.0

    private let width: Double
    private var estimator = SpeedEstimator()
    private var segments = MidpointQuadratics()
    private var size = 1.0
    /// How many points were kept: 0, 1, 2, or 3 for more.
    private var count = 0
    /// The first point, kept until the second: it has no speed of its own and gets that of the second.
    private var first: StrokePoint?
    private var last = Vector.zero
    /// A point that was too near, kept in case the stroke ends there.
    private var skipped: Vector?

    init(width: Double) {
        self.width = width
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let position = Vector(point.x, point.y)
        guard count == 0 || (position - last).length >= Self.minimumDistance else {
            skipped = position
            return
        }
        // The estimator sees the kept points only: speed is the distance between two of them over the time between
        // them.
        let fresh = Self.size(force: point.force, speed: estimator.speed(to: point))
        skipped = nil
        last = position
        if count == 0 {
            first = point
        } else {
            size = count > 1 ? 0.2 * fresh + 0.8 * size : fresh
            if let first {
                let firstSize = first.force.map { Self.size(force: $0, speed: nil) } ?? size
                segments.add(PenSample(position: Vector(first.x, first.y), nib: nib(firstSize)), into: &sink)
            }
            first = nil
            segments.add(PenSample(position: position, nib: nib(size)), into: &sink)
        }
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        if let first {
            sink.begin(at: Vector(first.x, first.y), nib: Nib(width: width))
            if let skipped { sink.line(to: skipped, nib: Nib(width: width)) }
            return
        }
        var segments = segments
        if let skipped { segments.add(PenSample(position: skipped, nib: nib(size)), into: &sink) }
        segments.finish(into: &sink)
    }

    private func nib(_ size: Double) -> Nib {
        Nib(width: max(size * width / Self.nominalSize, min(width, 1)))
    }

    private static func size(force: Double?, speed: Double?) -> Double {
        if let force { return 1 + 39 * force }
        return min(max((speed ?? 0) / 166, 1), 40)
    }
}
