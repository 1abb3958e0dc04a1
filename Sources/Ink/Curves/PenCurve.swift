internal import StrokeWire

/// The curve of the styles `pen`, `stamp` and `pencil`: through all points. After Adam Wulf, JotUI and DrawUI.
///
/// Repeated positions are left out: they have no direction.
struct PenCurve<Instrument: PenInstrument>: Sendable {
    private let width: Double
    private var instrument: Instrument
    private var estimator = SpeedEstimator()
    private var p0 = PenSample.none
    private var p1 = PenSample.none
    private var p2 = PenSample.none
    /// How many of p0, p1, p2 are set; once all are, they are the last three samples.
    private var count = 0
    private var hasBegun = false
    /// The first point, which gets its speed and its direction from the second.
    private var first: StrokePoint?
    private var last = Vector.zero

    init(width: Double, _ instrument: Instrument) {
        self.width = width
        self.instrument = instrument
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let position = Vector(point.x, point.y)
        guard count == 0 || position != last else { return }
        let way = position - last
        last = position
        guard let speed = estimator.speed(to: point) else {
            first = point
            p0.position = position
            count = 1
            return
        }
        if let first { p0.nib = instrument.nib(at: first, width: width, speed: speed, way: way) }
        first = nil
        let sample = PenSample(
            position: position, nib: instrument.nib(at: point, width: width, speed: speed, way: way))
        switch count {
        case 1: p1 = sample
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
        case 1:
            var instrument = instrument
            sink.begin(at: p0.position, nib: first.map { instrument.dot(at: $0, width: width) } ?? Nib(width: width))
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

    private static func draw(
        _ p0: PenSample, _ p1: PenSample, _ p2: PenSample, _ p3: PenSample, into sink: inout some CurveSink
    ) {
        let curve = InterpolatingCubic(p0.position, p1.position, p2.position, p3.position)
        sink.cubic(control1: curve.control1, control2: curve.control2, to: p2.position, nib: p2.nib)
    }
}

/// What of a pen decides its nib at a point.
protocol PenInstrument: Sendable {
    /// The nib at the next point of a stroke.
    /// - Parameters:
    ///   - width: the line width of the stroke.
    ///   - speed: in board units a second; the first point has that of the second.
    ///   - way: from the point before, not zero; the first point has that to the second.
    mutating func nib(at point: StrokePoint, width: Double, speed: Double, way: Vector) -> Nib

    /// The nib of a stroke that stays at one point.
    mutating func dot(at point: StrokePoint, width: Double) -> Nib
}

extension PenInstrument {
    func dot(at point: StrokePoint, width: Double) -> Nib { Nib(width: width) }
}

/// The nib of the `pen` style: the slower or harder the pen, the wider and darker the line.
///
/// The pressure is the force, or 1 − v, where v is the speed, 20 … 3000 units a second mapped to 0 … 1. From the least
/// pressure to the greatest the width goes from ½ · l to l and the opacity from 0.7 to 1.
struct BallPen: PenInstrument {
    private static let speeds = 20.0...3000.0
    private static let leastWidth = 0.5

    /// Opacity at the least pressure; 1 for an eraser, which has to remove everything.
    let leastOpacity: Double

    init(leastOpacity: Double = 0.7) { self.leastOpacity = leastOpacity }

    func nib(at point: StrokePoint, width: Double, speed: Double, way: Vector) -> Nib {
        let pressure = point.force ?? Self.pressure(speed: speed)
        return Nib(
            width: width * (Self.leastWidth + pressure * (1 - Self.leastWidth)),
            opacity: leastOpacity + pressure * (1 - leastOpacity))
    }

    /// The pressure, 0 … 1, of a pen that does not tell its force.
    static func pressure(speed: Double) -> Double {
        (speeds.upperBound - min(max(speed, speeds.lowerBound), speeds.upperBound))
            / (speeds.upperBound - speeds.lowerBound)
    }
}

/// The nib of the tips `marker` and `highlighter` of the `stamp` style, of one width. That of a marker has an edge across the
/// azimuth: its direction stands in place of the opacity.
///
/// Without an azimuth the edge rises to the right at 45°, as that of a broad pen. An edge has no ends to tell apart: from
/// point to point it turns by the lesser angle.
struct FeltTip: PenInstrument {
    let isTurned: Bool
    private var turn = -Double.pi / 4
    private var hasTurn = false

    init(_ tip: InkTip) { isTurned = tip == .marker }

    mutating func nib(at point: StrokePoint, width: Double, speed: Double, way: Vector) -> Nib {
        dot(at: point, width: width)
    }

    mutating func dot(at point: StrokePoint, width: Double) -> Nib {
        guard isTurned else { return Nib(width: width) }
        if let azimuth = point.azimuth {
            let edge = azimuth.truncatingRemainder(dividingBy: Double.pi) + Double.pi / 2
            turn = hasTurn ? edge + ((turn - edge) / Double.pi + 0.5).rounded(.down) * Double.pi : edge
            hasTurn = true
        }
        return Nib(width: width, opacity: turn)
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
