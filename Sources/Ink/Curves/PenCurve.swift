internal import StrokeWire

/// The `pen` style, and the centre line of the `stamp` style: a curve through all points; the slower or harder the pen,
/// the wider and darker the line. After Adam Wulf, JotUI and DrawUI.
///
/// The pressure is the force, or 1 − v, where v is the speed, 20 … 3000 units a second mapped to 0 … 1. From the least
/// pressure to the greatest the width goes from ½ · l to l and the opacity from 0.7 to 1. Repeated positions are left
/// out: they have no direction.
struct PenCurve: Sendable {
    private static let speeds = 20.0...3000.0
    private static let leastWidth = 0.5

    private let width: Double
    private let leastOpacity: Double
    private var estimator = SpeedEstimator()
    private var p0 = PenSample.none
    private var p1 = PenSample.none
    private var p2 = PenSample.none
    /// How many of p0, p1, p2 are set; once all are, they are the last three samples.
    private var count = 0
    private var hasBegun = false
    private var last = Vector.zero

    /// - Parameter leastOpacity: opacity at the least pressure; 1 for an eraser, which has to remove everything.
    init(width: Double, leastOpacity: Double = 0.7) {
        self.width = width
        self.leastOpacity = leastOpacity
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let position = Vector(point.x, point.y)
        guard count == 0 || position != last else { return }
        last = position
        let sample = PenSample(position: position, nib: nib(force: point.force, speed: estimator.speed(to: point)))
        switch count {
        case 0: p0 = sample
        case 1:
            // A first point without force has no speed; it gets the nib of the second.
            if point.force == nil { p0.nib = sample.nib }
            p1 = sample
        case 2: p2 = sample
        default:
            if !hasBegun {
                sink.begin(at: p0.position, nib: p0.nib)
                Self.draw(p0, p0, p1, p2, into: &sink)
                hasBegun = true
            }
            Self.draw(p0, p1, p2, sample, into: &sink)
            (p0, p1, p2) = (p1, p2, sample)
        }
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        if hasBegun { return Self.draw(p0, p1, p2, p2, into: &sink) }
        switch count {
        case 1: sink.begin(at: p0.position, nib: Nib(width: width))
        case 2:
            sink.begin(at: p0.position, nib: p0.nib)
            sink.line(to: p1.position, nib: p1.nib)
        case 3:
            sink.begin(at: p0.position, nib: p0.nib)
            drawThree(into: &sink)
        default: break
        }
    }

    /// The quadratic through three points, cut at the one in the middle for its nib.
    private func drawThree(into sink: inout some CurveSink) {
        let control = p1.position * 2 - p0.position.midpoint(to: p2.position)
        sink.quadratic(control: p0.position.midpoint(to: control), to: p1.position, nib: p1.nib)
        sink.quadratic(control: control.midpoint(to: p2.position), to: p2.position, nib: p2.nib)
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
        _ p0: PenSample, _ p1: PenSample, _ p2: PenSample, _ p3: PenSample, into sink: inout some CurveSink
    ) {
        let curve = InterpolatingCubic(p0.position, p1.position, p2.position, p3.position)
        sink.cubic(control1: curve.control1, control2: curve.control2, to: p2.position, nib: p2.nib)
    }
}

/// The cubic from P1 to P2 of a curve through all points, whose controls depend on the neighbours P0 and P3.
///
/// After Maxim Shemanarev, Anti-Grain Geometry, "Interpolation with Bezier Curves", with smoothing K.
public struct InterpolatingCubic: Sendable, Equatable {
    /// The factor K of both controls: 0 would give straight lines.
    public static let smoothing = 0.7

    /// The control beside P1.
    public let control1: Vector
    /// The control beside P2.
    public let control2: Vector

    /// Makes the controls for P1 → P2. In the first segment P0 is P1, in the last one P3 is P2.
    public init(_ p0: Vector, _ p1: Vector, _ p2: Vector, _ p3: Vector) {
        let length1 = (p1 - p0).length
        let length2 = (p2 - p1).length
        let length3 = (p3 - p2).length
        // Coincident points have no direction: the control is the anchor.
        guard length2 > 0 else {
            control1 = p1
            control2 = p2
            return
        }
        let c1 = p0.midpoint(to: p1)
        let c2 = p1.midpoint(to: p2)
        let c3 = p2.midpoint(to: p3)
        let m1 = c1.interpolated(to: c2, at: length1 / (length1 + length2))
        let m2 = c2.interpolated(to: c3, at: length2 / (length2 + length3))
        control1 = p1 + (c2 - m1) * Self.smoothing
        control2 = p2 + (c2 - m2) * Self.smoothing
    }
}
