import CCairo
import Ink
import PathGeometry
import Raster
import VectorGraphics

/// A canvas and a painter for it.
struct LecternCanvas {
    static let colour = RGB(0x1a3399)

    var canvas: Canvas
    private var painter: StrokePainter

    init(_ size: CanvasSize) {
        canvas = Canvas(width: size.width, height: size.height)
        painter = StrokePainter(canvasWidth: size.width, canvasHeight: size.height, scale: size.scale)
    }

    mutating func draw(_ stroke: InkStroke) {
        painter.draw(PaintedStroke(stroke: stroke, colour: Self.colour), on: &canvas)
    }

    mutating func fill(_ path: Path) { painter.draw(.area(PaintedArea(path: path, colour: Self.colour)), on: &canvas) }

    /// A stroke on a canvas of its own.
    static func alphas(of stroke: InkStroke, _ size: CanvasSize) -> Canvas {
        var lectern = LecternCanvas(size)
        lectern.draw(stroke)
        return lectern.canvas
    }
}

/// The same strokes drawn by Cairo.
final class CairoCanvas {
    private let surface: OpaquePointer
    private let context: CairoContext
    private let size: CanvasSize

    init(_ size: CanvasSize) {
        self.size = size
        surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(size.width), Int32(size.height))
        context = CairoContext(surface: surface, scale: size.scale)
        context.setColour(LecternCanvas.colour, opacity: 1)
    }

    deinit { cairo_surface_destroy(surface) }

    /// Strokes the centre line with constant width.
    func stroke(_ stroke: InkStroke) {
        var path = context.newPath()
        stroke.trace(into: &path)
        path.finish()
        context.stroke(width: stroke.width)
    }

    /// The outline of a line of changing width: one ribbon, but for corners.
    func outline(of stroke: InkStroke) -> [Contour] {
        var fitter = ParabolaFitter(scale: size.scale, canvasWidth: size.width, canvasHeight: size.height)
        stroke.trace(into: &fitter)
        var outliner = StrokeContours(scale: size.scale, tolerance: 0)
        return outliner.contours(of: fitter.samples)
    }

    func fill(_ outline: [Contour]) {
        var path = context.newPath()
        for contour in outline { contour.trace(into: &path) }
        context.fill()
    }

    /// The alpha of a pixel, 0 … 255.
    func alpha(_ x: Int, _ y: Int) -> UInt32 {
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return 0 }
        let row = UnsafeRawPointer(data) + y * Int(cairo_image_surface_get_stride(surface))
        return row.load(fromByteOffset: x * 4, as: UInt32.self) >> 24
    }
}
