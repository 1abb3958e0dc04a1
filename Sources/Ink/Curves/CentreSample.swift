/// One sample of a flattened centre line, in pixels.
///
/// A disc moves from each sample to the next, on a straight line or a parabola, and its radius changes evenly; a stroke is
/// what the discs cover. On a straight line that is a tapered capsule: the convex hull of both discs.
public struct CentreSample: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the width of the line in pixels, not negative.
    public var radius: Float
    /// How much of the colour goes on the canvas: 0 … 1.
    public var opacity: Float
    /// How far the middle of the way from the last sample is from the middle of the straight line, in pixels to the
    /// right; 0 where the way is straight.
    public var sagX: Float
    /// The same downwards.
    public var sagY: Float

    /// Makes a sample.
    @inlinable
    public init(x: Float, y: Float, radius: Float, opacity: Float = 1, sagX: Float = 0, sagY: Float = 0) {
        self.x = x
        self.y = y
        self.radius = radius
        self.opacity = opacity
        self.sagX = sagX
        self.sagY = sagY
    }
}
