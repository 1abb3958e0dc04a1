import Ink
public import Raster
import StrokeWire
public import Whiteboard

/// Makes of a stroke at rest what the painter draws: points in board units, width, colour.
public struct StrokeSource: Sendable {
    private let style: InkStyle
    private let colours: ColourSpace
    private let palette: Palette

    public init(_ configuration: ServerConfiguration) {
        style = configuration.style
        colours = configuration.room.intake.wire.colours
        palette = configuration.palette
    }

    /// The stroke, scaled from its sender's units to the board's.
    public func stroke(_ stroke: Stroke, on size: BoardSize) -> PaintedStroke {
        guard case (let header, var points)? = stroke.decoded() else {
            return PaintedStroke(
                stroke: InkStroke(element: .freehand, style: style, width: 0, points: []), colour: RGB(0))
        }
        let scale = size.scale(for: header)
        if scale.x != 1 || scale.y != 1 {
            for position in points.indices {
                points[position].x *= scale.x
                points[position].y *= scale.y
            }
        }
        return PaintedStroke(
            stroke: InkStroke(
                element: header.element, style: style, width: header.width * scale.width, points: points),
            colour: colour(header.colour))
    }

    private func colour(_ value: UInt32) -> RGB {
        switch colours {
        case .palette: RGB(palette[value] ?? 0)
        case .rgb: RGB(value)
        }
    }
}
