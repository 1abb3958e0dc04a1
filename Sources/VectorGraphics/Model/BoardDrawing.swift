public import Raster

/// What a vector renderer draws: the strokes of one board, in board units, origin top left, y down.
public struct BoardDrawing: Sendable, Equatable {
    /// The width of the board in board units, above 0.
    public var width: Double
    /// The height of the board in board units, above 0.
    public var height: Double
    /// The visible strokes, bottom to top; an eraser removes what is below it.
    public var strokes: [PaintedStroke]
    /// What is drawn over the ink to look at how it came about; `nil` for the board alone.
    public var overlay: DebugOverlay?

    /// Puts a drawing together. Sides that are not positive numbers are taken as 1.
    public init(width: Double, height: Double, strokes: [PaintedStroke], overlay: DebugOverlay? = nil) {
        self.width = width > 0 && width.isFinite ? width : 1
        self.height = height > 0 && height.isFinite ? height : 1
        self.strokes = strokes
        self.overlay = overlay
    }
}
