import Ink
import PathGeometry
public import Raster
import Scene
import StrokeWire
public import VectorGraphics
public import Whiteboard

/// Converts logged entries of a board to what the painters draw: points in board units, width, colour.
public struct StrokeSource: Sendable {
    private let style: InkStyle
    private let tip: InkTip
    private let colours: ColourSpace
    private let palette: Palette

    public init(_ configuration: ServerConfiguration) {
        style = configuration.style
        tip = configuration.tip
        colours = configuration.room.intake.wire.colours
        palette = configuration.palette
    }

    /// The stroke, scaled from its sender's units to the board's.
    public func stroke(_ stroke: Stroke, on size: BoardSize) -> PaintedStroke {
        guard let (header, points) = scaled(stroke, on: size) else {
            return PaintedStroke(
                stroke: InkStroke(element: .freehand, style: style, width: 0, points: []), colour: RGB(0))
        }
        return PaintedStroke(
            stroke: InkStroke(
                element: header.element, style: style, width: header.width, points: points,
                unit: size.longerSide / 1024, tip: tip),
            colour: RGB(rgb(header.colour)))
    }

    /// What an entry shows; nil where it cannot be decoded.
    public func content(_ entry: Stroke, on size: BoardSize) -> PageEntry.Content? {
        switch entry.kind {
        case .stroke: return .stroke(stroke(entry, on: size))
        case .image: return image(entry, on: size).map { .image($0) }
        case .lasso:
            guard let (header, points) = scaled(entry, on: size),
                case .lasso(let map, let keepsOriginal)? = header.content
            else { return nil }
            let scale = size.scale(for: header)
            return .lasso(
                Lasso(
                    points: points.map { Point($0.x, $0.y) }, map: map.map { AffineMap($0, scaledBy: scale) },
                    keepsOriginal: keepsOriginal))
        }
    }

    /// Where an image lies, and what it shows; nil for any other entry.
    func image(_ entry: Stroke, on size: BoardSize) -> PlacedImage? {
        guard entry.kind == .image, let (header, points) = scaled(entry, on: size),
            case .image(let asset, let page)? = header.content, let first = points.first, let last = points.last
        else { return nil }
        return PlacedImage(
            ImageSource(asset: asset, page: page), from: Point(first.x, first.y), to: Point(last.x, last.y))
    }

    /// The message of a stroke with its points, both in the board's units; nil where it cannot be decoded.
    func scaled(_ stroke: Stroke, on size: BoardSize) -> (header: StrokeMessage, points: [StrokePoint])? {
        guard case (var header, var points)? = stroke.decoded() else { return nil }
        let scale = size.scale(for: header)
        if scale.x != 1 || scale.y != 1 {
            for position in points.indices {
                points[position].x *= scale.x
                points[position].y *= scale.y
            }
        }
        header.width *= scale.width
        return (header, points)
    }

    /// `0xRRGGBB` of a message's colour.
    func rgb(_ value: UInt32) -> UInt32 {
        switch colours {
        case .palette: palette[value] ?? 0
        case .rgb: value
        }
    }
}

extension AffineMap {
    /// A map in the units of a sender, in those of the board: scaled back, mapped and scaled again.
    fileprivate init(_ map: LassoMap, scaledBy scale: (x: Double, y: Double, width: Double)) {
        self.init(
            map.a, map.b * scale.y / scale.x, map.c * scale.x / scale.y, map.d, map.e * scale.x, map.f * scale.y)
    }
}
