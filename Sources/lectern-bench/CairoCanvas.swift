import CCairo
import Ink

/// Cairo's own drawing of the same strokes, to compare with.
final class CairoCanvas {
    private let surface: OpaquePointer
    private let context: OpaquePointer
    private let scale: Double

    init(width: Int, height: Int, scale: Double) {
        surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        context = cairo_create(surface)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        cairo_set_source_rgb(context, 0.1, 0.2, 0.6)
        self.scale = scale
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    /// Draws the curve with a pen of constant width.
    func stroke(_ stroke: InkStroke) {
        var sink = CairoCurve(context: context, scale: scale)
        cairo_set_line_width(context, stroke.width * scale)
        stroke.trace(into: &sink)
        cairo_stroke(context)
    }

    /// Fills the outline of a line of varying width.
    func fill(_ stroke: InkStroke) {
        var sink = CairoOutline(context: context)
        stroke.outline(scale: scale, into: &sink)
        cairo_fill(context)
    }
}

/// A centre line as a Cairo path.
private struct CairoCurve: CurveSink {
    let context: OpaquePointer
    let scale: Double
    private var last = Vector(0, 0)

    init(context: OpaquePointer, scale: Double) {
        self.context = context
        self.scale = scale
    }

    mutating func begin(at point: Vector, nib: Nib) {
        last = point * scale
        cairo_move_to(context, last.x, last.y)
        cairo_line_to(context, last.x, last.y)
    }

    mutating func line(to end: Vector, nib: Nib) {
        last = end * scale
        cairo_line_to(context, last.x, last.y)
    }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        let middle = control * scale
        let first = last + (middle - last) * (2.0 / 3.0)
        let end = end * scale
        let second = end + (middle - end) * (2.0 / 3.0)
        cairo_curve_to(context, first.x, first.y, second.x, second.y, end.x, end.y)
        last = end
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        let (first, second) = (control1 * scale, control2 * scale)
        last = end * scale
        cairo_curve_to(context, first.x, first.y, second.x, second.y, last.x, last.y)
    }
}

/// An outline as a Cairo path.
private struct CairoOutline: OutlineSink {
    let context: OpaquePointer

    mutating func move(to point: Vector) { cairo_move_to(context, point.x, point.y) }
    mutating func line(to point: Vector) { cairo_line_to(context, point.x, point.y) }
    mutating func cubic(control1: Vector, control2: Vector, to point: Vector) {
        cairo_curve_to(context, control1.x, control1.y, control2.x, control2.y, point.x, point.y)
    }
    mutating func close() { cairo_close_path(context) }
}
