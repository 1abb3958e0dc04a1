import LecternServer
import Raster
import StrokeWire
import VectorGraphics
import Whiteboard

/// A board as a picture of any format.
struct BoardPicture {
    let drawing: BoardDrawing
    /// Pixels a board unit.
    let scale: Double

    /// - Parameters:
    ///   - width: pixels; nil for one a board unit.
    ///   - debug: whether what the strokes are made of is drawn over them.
    init(_ board: Board, configuration: ServerConfiguration, width: Int?, debug: Bool = false) {
        let size = board.size
        let source = StrokeSource(configuration)
        let strokes = board.visible.map { source.stroke($0.stroke, on: size) }
        scale = width.map { Double($0) / size.width } ?? 1
        drawing = BoardDrawing(
            width: size.width, height: size.height, strokes: strokes,
            overlay: debug ? DebugOverlay(strokes: strokes, width: size.width, height: size.height, scale: scale) : nil)
    }

    /// The pixels, drawn sharp at the width they are wanted at.
    var canvas: Canvas {
        var canvas = Canvas(
            width: Int((drawing.width * scale).rounded(.up)), height: Int((drawing.height * scale).rounded(.up)))
        var painter = StrokePainter(canvasWidth: canvas.width, canvasHeight: canvas.height, scale: scale)
        for stroke in drawing.strokes { painter.draw(stroke, on: &canvas) }
        drawing.overlay?.paint(on: &canvas)
        return canvas
    }
}
