/// One sample of a flattened centre line, in pixels.
///
/// Two neighbouring samples span a tapered capsule: the convex hull of their two discs. A stroke is the union of the
/// capsules of its samples, or the disc of its only one.
public struct CentreSample: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the width of the line in pixels, not negative.
    public var radius: Float
    /// How much of the colour goes on the canvas: 0 … 1.
    public var opacity: Float

    /// Makes a sample.
    @inlinable
    public init(x: Float, y: Float, radius: Float, opacity: Float = 1) {
        self.x = x
        self.y = y
        self.radius = radius
        self.opacity = opacity
    }
}
