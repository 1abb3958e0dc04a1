/// What the pen is like at one place of a stroke.
public struct Nib: Sendable, Equatable {
    /// The full width of the line in board units, never negative.
    public var width: Double
    /// How much of the colour goes on the board: 0 nothing … 1 opaque.
    public var opacity: Double

    /// Makes a nib, opaque unless told otherwise.
    @inlinable
    public init(width: Double, opacity: Double = 1) {
        self.width = width
        self.opacity = opacity
    }

    /// The nib at `fraction` of the way to another; both quantities change linearly.
    @inlinable
    public func interpolated(to other: Nib, at fraction: Double) -> Nib {
        Nib(
            width: width + (other.width - width) * fraction,
            opacity: opacity + (other.opacity - opacity) * fraction)
    }
}
