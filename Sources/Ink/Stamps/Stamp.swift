/// One mark of a soft round brush, in pixels.
public struct Stamp: Sendable, Equatable {
    /// Pixels from the left edge of the canvas.
    public var x: Float
    /// Pixels from the upper edge of the canvas, downwards.
    public var y: Float
    /// Half the side of the square brush image, which fades out a little inside of it.
    public var radius: Float
    /// How much of the colour goes on at the centre: 0 … 1.
    public var alpha: Float

    /// The brush, as the part of ``alpha`` that goes on at a distance from the centre (1 is the side of the square):
    /// of a radius of 32 full up to 6 (20 % of 30), then linear down to 0 at 30.
    @inlinable
    public static func brush(_ distance: Float) -> Float {
        let texel = distance * 32
        return texel <= 6 ? 1 : texel >= 30 ? 0 : (30 - texel) / 24
    }
}
