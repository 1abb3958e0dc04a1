public import Ink
internal import PathGeometry
internal import Raster
public import StrokeWire

/// Turns messages that draw into what a page shows: points in board units, width, colour.
public struct EntryDecoder: Sendable, Equatable {
    /// How the points of strokes become ink.
    public var style: InkStyle
    public var tip: InkTip
    /// What the numbers of colours mean.
    public var colours: ColourSpace
    public var palette: Palette
    /// Whether colours are those of a dark board; see ``DarkBoard``.
    public var isDark = false

    public init(style: InkStyle, tip: InkTip, colours: ColourSpace, palette: Palette) {
        (self.style, self.tip, self.colours, self.palette) = (style, tip, colours, palette)
    }

    /// What a message shows on a board; nil where it is a pointer, or an image, a lasso or a text without what it needs.
    /// - Parameters:
    ///   - points: of the message, in its sender's units; points that are scaled already need a scale of 1.
    ///   - scale: from its sender's units to the board's, for x, y and line width.
    ///   - longerSide: of the board, in its units.
    public func content(
        _ header: StrokeMessage, _ points: consuming [StrokePoint],
        scale: (x: Double, y: Double, width: Double), longerSide: Double
    ) -> PageEntry.Content? {
        if scale.x != 1 || scale.y != 1 {
            for place in points.indices {
                points[place].x *= scale.x
                points[place].y *= scale.y
            }
        }
        switch (header.element, header.content) {
        case (.image, .image(let asset, let page)?):
            guard let first = points.first, let last = points.last else { return nil }
            return .image(
                PlacedImage(
                    ImageSource(asset: asset, page: page), from: Point(first.x, first.y), to: Point(last.x, last.y)))
        case (.lasso, .lasso(let map, let keepsOriginal)?):
            return .lasso(
                Lasso(
                    points: points.map { Point($0.x, $0.y) },
                    map: map.map { AffineMap($0, scaledBy: scale) }, keepsOriginal: keepsOriginal))
        case (.text, .text(let text)?):
            guard let first = points.first, let last = points.last else { return nil }
            return .image(
                PlacedImage(
                    text: text, colour: RGB(rgb(header.colour)), from: Point(first.x, first.y),
                    to: Point(last.x, last.y)))
        case (.image, _), (.lasso, _), (.pointer, _), (.text, _): return nil
        default:
            return .stroke(
                PaintedStroke(
                    stroke: InkStroke(
                        element: header.element, style: style, width: header.width * scale.width, points: points,
                        unit: longerSide / 1024, tip: tip),
                    colour: RGB(rgb(header.colour))))
        }
    }

    /// `0xRRGGBB` of a message's colour.
    public func rgb(_ value: UInt32) -> UInt32 {
        let colour =
            switch colours {
            case .palette: palette[value] ?? 0
            case .rgb: value
            }
        return isDark ? DarkBoard.colour(colour) : colour
    }
}

extension AffineMap {
    /// A map in the units of a sender, in those of the board: scaled back, mapped and scaled again.
    fileprivate init(_ map: LassoMap, scaledBy scale: (x: Double, y: Double, width: Double)) {
        self.init(
            map.a, map.b * scale.y / scale.x, map.c * scale.x / scale.y, map.d, map.e * scale.x, map.f * scale.y)
    }
}
