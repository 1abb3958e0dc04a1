internal import PathGeometry
internal import Raster

extension Picture {
    /// The part of a page that is seen, where that is not all of it.
    public struct Viewport: Equatable, Sendable {
        /// Pixels from the upper left corner of the page, at this scale, to that of the canvas.
        public let x, y: Int
        /// The size of the canvas in pixels, 1 … ``Picture/largestSide``.
        public let width, height: Int
        /// Pixels a board unit, 1/64 … 1024.
        public let scale: Double

        /// Nil where a number is none of those.
        public init?(x: Int, y: Int, width: Int, height: Int, scale: Double) {
            let sides = 1...Picture.largestSide
            let (isNear, isScale) = (max(x.magnitude, y.magnitude) <= 1 << 24, scale >= 1 / 64 && scale <= 1024)
            guard isNear, isScale, sides.contains(width), sides.contains(height) else { return nil }
            (self.x, self.y, self.width, self.height, self.scale) = (x, y, width, height, scale)
        }

        /// From the page to the canvas, in board units.
        var shift: Point { Point(-Double(x) / scale, -Double(y) / scale) }
        /// The part of the page at this scale.
        var part: PixelRectangle { PixelRectangle(x: x, y: y, width: width, height: height) }
    }
}
