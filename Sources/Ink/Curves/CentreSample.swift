/// One sample of a flattened centre line, in pixels.
///
/// A disc moves from each sample to the next, on a straight line or an arc of a circle, and its radius changes evenly; a
/// stroke is what the discs cover. On a straight line that is a tapered capsule: the convex hull of both discs.
public struct CentreSample: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the width of the line in pixels, not negative.
    public var radius: Float
    /// How much of the colour goes on the canvas: 0 … 1.
    public var opacity: Float
    /// How far the way from the last sample bends out of the straight line, in pixels at its middle: 0 is straight,
    /// positive bends to the right of the direction of drawing (clockwise of it on the screen).
    public var bulge: Float

    /// Makes a sample.
    @inlinable
    public init(x: Float, y: Float, radius: Float, opacity: Float = 1, bulge: Float = 0) {
        self.x = x
        self.y = y
        self.radius = radius
        self.opacity = opacity
        self.bulge = bulge
    }
}
