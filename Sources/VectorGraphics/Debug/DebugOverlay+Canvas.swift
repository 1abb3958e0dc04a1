internal import Ink
public import Raster
internal import StrokeWire

extension DebugOverlay {
    /// Draws the marks on a canvas that was painted at ``scale``.
    public func paint(on canvas: inout Canvas) {
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: scale)
        for marks in marks {
            var stroke = InkStroke(element: .line, style: .smooth, width: marks.kind.pixels / scale, points: [])
            for polyline in marks.polylines {
                let corners = polyline.map { StrokePoint(x: $0.x, y: $0.y) }
                if let only = corners.first, corners.count == 1 {
                    stroke.points = [only]
                    painter.draw(PaintedStroke(stroke: stroke, colour: marks.kind.colour), on: &canvas)
                }
                for (from, to) in zip(corners, corners.dropFirst()) {
                    stroke.points = [from, to]
                    painter.draw(PaintedStroke(stroke: stroke, colour: marks.kind.colour), on: &canvas)
                }
            }
        }
    }
}
