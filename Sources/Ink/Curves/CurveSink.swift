internal import StrokeWire

#if canImport(Glibc)
internal import Glibc  // links the C library's mathematics, which a square root may need
#elseif canImport(Musl)
internal import Musl
#endif

/// A position or a displacement in the plane: board units, origin top left, y down.
public typealias Vector = SIMD2<Double>

extension SIMD2<Double> {
    /// The scalar product with another vector.
    @inlinable
    public func dot(_ other: Vector) -> Double { x * other.x + y * other.y }

    /// The z component of the vector product: positive when `other` lies clockwise of this vector on the screen.
    @inlinable
    public func cross(_ other: Vector) -> Double { x * other.y - y * other.x }

    /// The Euclidean length; a plain square root, so that it is the same on every machine.
    @inlinable
    public var length: Double { dot(self).squareRoot() }

    /// The point halfway to another.
    @inlinable
    public func midpoint(to other: Vector) -> Vector { (self + other) * 0.5 }

    /// The point at `fraction` (0 here, 1 there) of the way to another.
    @inlinable
    public func interpolated(to other: Vector, at fraction: Double) -> Vector { self + (other - self) * fraction }
}

/// Width and opacity of the pen at one position of a stroke.
public struct Nib: Sendable, Equatable {
    /// The full width of the line in board units, never negative.
    public var width: Double
    /// Opacity, 0 … 1.
    public var opacity: Double

    /// Makes a nib, opaque by default.
    @inlinable
    public init(width: Double, opacity: Double = 1) {
        self.width = width
        self.opacity = opacity
    }

    /// The nib at `fraction` of the way to another; width and opacity change linearly.
    @inlinable
    public func interpolated(to other: Nib, at fraction: Double) -> Nib {
        Nib(
            width: width + (other.width - width) * fraction,
            opacity: opacity + (other.opacity - opacity) * fraction)
    }
}

/// Receives the centre line of one stroke, segment by segment, in board units.
///
/// Every call but `begin` continues from where the last one ended. The nib changes linearly with the parameter of the
/// segment, from that of the last call to the one given. A stroke is one `begin` and any number of segments; a `begin`
/// alone is a dot.
public protocol CurveSink {
    /// Puts the pen down.
    mutating func begin(at point: Vector, nib: Nib)
    /// Draws a straight segment.
    mutating func line(to end: Vector, nib: Nib)
    /// Draws a quadratic Bézier segment.
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib)
    /// Draws a cubic Bézier segment.
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib)
}

/// A position of the pen, and its nib there.
struct PenSample: Sendable, Equatable {
    var position: Vector
    var nib: Nib

    static let none = PenSample(position: .zero, nib: Nib(width: 0))

    func midpoint(to other: PenSample) -> PenSample {
        PenSample(position: position.midpoint(to: other.position), nib: nib.interpolated(to: other.nib, at: 0.5))
    }
}

/// Speed of the pen from point to point.
struct SpeedEstimator: Sendable {
    /// Time between two points without times of their own, in seconds: 60 points a second.
    private static let defaultInterval = 1.0 / 60

    private var position: Vector?
    private var milliseconds: Double?

    /// Board units a second from the last point to this one, not negative, `nil` for the first.
    mutating func speed(to point: StrokePoint) -> Double? {
        let here = Vector(point.x, point.y)
        defer {
            position = here
            milliseconds = point.milliseconds
        }
        guard let position else { return nil }
        var seconds = Self.defaultInterval
        // A clock may stop or be set back, and a tiny difference may become 0 in seconds.
        if let now = point.milliseconds, let before = milliseconds, (now - before) / 1000 > 0 {
            seconds = (now - before) / 1000
        }
        return (here - position).length / seconds
    }
}
