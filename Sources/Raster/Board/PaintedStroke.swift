public import Ink

/// A stroke with its colour: what the painter asks for when it has to draw a layer.
public struct PaintedStroke: Sendable, Equatable {
    /// The geometry, in board units.
    public var stroke: InkStroke
    /// The colour; not looked at for an eraser.
    public var colour: RGB

    /// Puts both together.
    @inlinable
    public init(stroke: InkStroke, colour: RGB) {
        self.stroke = stroke
        self.colour = colour
    }
}
