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

    /// The distance from the nearest place of a straight line.
    package func distance(fromLine start: Vector, _ end: Vector) -> Double {
        let (way, offset) = (end - start, self - start)
        let square = way.dot(way)
        let part = square > 0 ? Swift.min(Swift.max(offset.dot(way) / square, 0), 1) : 0
        return (offset - way * part).length
    }
}

extension [Vector] {
    /// The corners of the convex hull of all, by Andrew's monotone chain; fewer than three where it has no area.
    package var convexHull: [Vector] {
        let sorted = sorted { ($0.x, $0.y) < ($1.x, $1.y) }
        func chain(_ places: some Sequence<Vector>) -> ArraySlice<Vector> {
            var hull: [Vector] = []
            for place in places {
                while hull.count > 1,
                    (hull[hull.count - 1] - hull[hull.count - 2]).cross(place - hull[hull.count - 1]) <= 0
                {
                    hull.removeLast()
                }
                hull.append(place)
            }
            return hull.dropLast()
        }
        return Array(chain(sorted) + chain(sorted.reversed()))
    }
}

/// Width and opacity of the pen at one position of a stroke.
public struct Nib: Sendable, Equatable {
    /// The full width of the line in board units, never negative.
    public var width: Double
    /// Opacity, 0 … 1. A marker (``InkTip/marker``), whose ink is even, has the direction of its edge here, in radians; that
    /// may be more than a turn, so that it changes evenly.
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
    /// Draws a quadratic Bézier segment on which the nib is quadratic, too. It starts where the last call ended, with the
    /// nib there.
    mutating func quadratic(_ segment: SwellingQuadratic)
    /// Draws a cubic Bézier segment.
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib)
}

extension CurveSink {
    /// Draws pieces on each of which the nib is linear, off by at most a 200th of the width.
    public mutating func quadratic(_ segment: SwellingQuadratic) {
        segment.forEachPiece(segment.pieces(tolerance: segment.widest / 200)) { control, end in
            quadratic(control: control, to: end.position, nib: end.nib)
        }
    }
}

/// A position of the pen, and its nib there.
public struct PenSample: Sendable, Equatable {
    /// The middle of the nib, in board units.
    public var position: Vector
    /// Width and opacity there.
    public var nib: Nib

    /// Makes a sample.
    @inlinable
    public init(position: Vector, nib: Nib) {
        self.position = position
        self.nib = nib
    }

    static let none = PenSample(position: .zero, nib: Nib(width: 0))

    /// The sample halfway to another.
    @inlinable
    public func midpoint(to other: PenSample) -> PenSample { interpolated(to: other, at: 0.5) }

    /// The sample at `fraction` of the way to another.
    @inlinable
    public func interpolated(to other: PenSample, at fraction: Double) -> PenSample {
        PenSample(
            position: position.interpolated(to: other.position, at: fraction),
            nib: nib.interpolated(to: other.nib, at: fraction))
    }
}

/// A quadratic Bézier segment whose position and nib have the same basis: at t they are
/// (1 − t)² · start + 2t(1 − t) · control + t² · end.
public struct SwellingQuadratic: Sendable, Equatable {
    /// Where it begins.
    public var start: PenSample
    /// The control point, and the nib that belongs to it.
    public var control: PenSample
    /// Where it ends.
    public var end: PenSample

    /// Makes a segment.
    public init(start: PenSample, control: PenSample, end: PenSample) {
        (self.start, self.control, self.end) = (start, control, end)
    }

    /// The greatest width of its samples in board units.
    public var widest: Double { max(start.nib.width, control.nib.width, end.nib.width) }

    /// The sample at t, 0 … 1.
    public func sample(at t: Double) -> PenSample {
        start.interpolated(to: control, at: t).interpolated(to: control.interpolated(to: end, at: t), at: t)
    }

    /// How many pieces, 1 … 16, have widths that are linear but for a tolerance above 0 in board units.
    public func pieces(tolerance: Double) -> Int {
        // Of n pieces each is off by a quarter of the second difference divided by n².
        let off = abs(start.nib.width - control.nib.width * 2 + end.nib.width) * 0.25
        var count = 1
        while count < 16, off > tolerance * Double(count * count) { count += 1 }
        return count
    }

    /// Calls with the control point and the end of each of `count` pieces that lie on the same curve.
    public func forEachPiece(_ count: Int, _ body: (_ control: Vector, _ end: PenSample) -> Void) {
        for index in 0..<count {
            let (from, to) = (Double(index) / Double(count), Double(index + 1) / Double(count))
            let middle = start.position.interpolated(to: control.position, at: from).interpolated(
                to: control.position.interpolated(to: end.position, at: from), at: to)
            body(middle, index + 1 == count ? end : sample(at: to))
        }
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
