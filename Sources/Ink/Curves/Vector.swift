#if canImport(Glibc)
internal import Glibc  // links the C library's mathematics, which a square root may need
#elseif canImport(Musl)
internal import Musl
#endif

/// A place or a displacement in the plane: board units, origin top left, y down.
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
