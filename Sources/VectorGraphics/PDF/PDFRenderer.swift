#if canImport(CCairo)
internal import CCairo
internal import Ink
internal import Raster

/// Writes boards as a PDF document of vector graphics, one page a board, through cairo.
///
/// A board unit is 0.75 pt, a CSS pixel, so that a page is as large as the SVG of the same board. Strokes are what they
/// are in ``SVGRenderer``. A page is white, and an eraser paints white: a page without paper would need masks that cairo
/// can only write as images. The same boards give the same bytes.
public enum PDFRenderer {
    /// Why there is no document.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What cairo says.
        public let description: String
    }

    /// The document, each board at its own scale.
    ///
    /// Safe on any thread; takes memory for a whole document, which has about as many bytes as the paths have numbers.
    /// - Parameter pages: the boards in their order; `scale`, above 0, is the size of a page: 1 for 0.75 pt a board unit.
    public static func render(_ pages: [(drawing: BoardDrawing, scale: Double)]) throws(Failure) -> [UInt8] {
        let document = PDFDocument()
        for (board, scale) in pages {
            let scale = scale > 0 && scale.isFinite ? scale : 1
            document.page(width: board.width, height: board.height, scale: scale * 0.75) { context in
                draw(board, on: context)
            }
        }
        return try document.finish()
    }

    /// The document, all boards at one scale.
    public static func render(_ boards: [BoardDrawing], scale: Double = 1) throws(Failure) -> [UInt8] {
        try render(boards.map { (drawing: $0, scale: scale) })
    }

    private static func draw(_ board: BoardDrawing, on context: borrowing CairoContext) {
        let tolerance = DrawableStroke.tolerance(width: board.width, height: board.height)
        for painted in board.strokes {
            guard let stroke = DrawableStroke(painted, width: board.width, height: board.height) else { continue }
            context.setColour(stroke.colourOnWhite, opacity: stroke.opacity)
            var path = context.newPath()
            switch stroke.form {
            case .curve(let width):
                stroke.ink.trace(into: &path)
                path.finish()
                context.stroke(width: width)
            case .outline(let chains):
                for chain in chains { RibbonOutline(tolerance: tolerance).trace(chain, into: &path) }
                context.fill()
            }
        }
        for marks in board.overlay?.marks ?? [] {
            context.setColour(marks.kind.colour, opacity: 1)
            var path = context.newPath()
            for polyline in marks.polylines {
                guard let first = polyline.first else { continue }
                path.begin(at: first, nib: Nib(width: 0))
                for corner in polyline.dropFirst() { path.line(to: corner) }
                path.finish()
            }
            context.stroke(width: marks.kind.pixels / (board.overlay?.scale ?? 1))
        }
    }
}
#endif
