internal import PathGeometry

/// What a layer of a board shows.
public enum LayerContent: Sendable, Equatable {
    /// Ink as it was drawn, or an eraser.
    case stroke(PaintedStroke)
    /// Ink that was cut or moved.
    case area(PaintedArea)
    /// An image. One that is not there is an area: ``EmptyFrame/path(around:map:clip:)``.
    case image(PaintedImage)
}

extension StrokePainter {
    /// Draws what a layer shows on top.
    public mutating func draw(_ content: LayerContent, on canvas: inout Canvas) {
        draw(content, on: &canvas, within: nil) { true }
    }

    /// Draws a layer on some of the tiles only. Returns the box of the pixels that all of it may touch; see
    /// ``draw(_:on:within:while:)-1t9ko``.
    @discardableResult
    mutating func draw(
        _ content: LayerContent, on canvas: inout Canvas, within part: TileSet?, while isWanted: () -> Bool
    ) -> PixelBox? {
        switch content {
        case .stroke(let stroke): draw(stroke, on: &canvas, within: part, while: isWanted)
        case .area(let area): fill(area, on: &canvas, within: part, while: isWanted)
        case .image(let image): draw(image, on: &canvas, within: part, while: isWanted)
        }
    }

    /// The box of the pixels that a layer may touch, without drawing it.
    mutating func box(of content: LayerContent, on canvas: Canvas) -> PixelBox {
        switch content {
        case .stroke(let stroke): box(of: stroke.stroke, on: canvas)
        case .area(let area): PixelBox(around: area.path.controlBounds, scale: scale, on: canvas)
        case .image(let image): Self.box(of: image, scale: scale, on: canvas)
        }
    }
}
