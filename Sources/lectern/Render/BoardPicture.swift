import LecternServer
import Raster
import StrokeWire
import Whiteboard

/// A board drawn once, sharp at the width it is wanted at.
struct BoardPicture {
    let canvas: Canvas

    /// - Parameter width: pixels; nil for one a board unit.
    init(_ board: Board, configuration: ServerConfiguration, width: Int?) {
        let size = board.size
        let scale = width.map { Double($0) / size.width } ?? 1
        var painter = BoardPainter(
            width: Int((size.width * scale).rounded(.up)), height: Int((size.height * scale).rounded(.up)),
            scale: scale)
        let source = StrokeSource(configuration)
        let layers = board.visible.map { BoardLayer(id: $0.stroke.index, digest: $0.digest.value) }
        canvas = painter.canvas(of: layers) { source.stroke(board.visible[$0].stroke, on: size) }
    }
}
