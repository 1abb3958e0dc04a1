#if canImport(CCairo)
internal import CCairo
package import Ink
internal import PathGeometry
package import Raster
internal import Scene

/// Draws with Cairo in board units: the pages of documents, and what benchmarks compare with. An error stays in the
/// context's status, and nothing is drawn any more.
package struct CairoContext: ~Copyable {
    private let context: OpaquePointer?
    /// Units of the surface a board unit. Paths are scaled before Cairo gets them, which strokes faster then.
    private let scale: Double

    package init(surface: OpaquePointer?, scale: Double) {
        context = cairo_create(surface)
        self.scale = scale
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        cairo_set_fill_rule(context, CAIRO_FILL_RULE_WINDING)
    }

    deinit { cairo_destroy(context) }

    package func setColour(_ colour: RGB, opacity: Double) {
        cairo_set_source_rgba(
            context, Double(colour.red) / 255, Double(colour.green) / 255, Double(colour.blue) / 255, opacity)
    }

    /// Covers the page with white.
    func fillPage() {
        setColour(RGB(0xFF_FFFF), opacity: 1)
        cairo_paint(context)
    }

    /// Begins a path; valid as long as the context lives.
    package func newPath() -> CairoPath {
        cairo_new_path(context)
        return CairoPath(context: context, scale: scale)
    }

    /// Strokes the current path with a round pen.
    package func stroke(width: Double) {
        cairo_set_line_width(context, width * scale)
        cairo_stroke(context)
    }

    /// Draws a round dot where each part of the current path begins, and along it in equal distances.
    func strokeDots(width: Double, distance: Double) {
        // Cairo takes no dashes of which all are 0.
        guard distance * scale > 0 else { return }
        // Dashes without length, with round ends.
        var dashes = [0, distance * scale]
        cairo_set_dash(context, &dashes, 2, 0)
        stroke(width: width)
        cairo_set_dash(context, nil, 0, 0)
    }

    /// Fills the current path under the nonzero rule.
    package func fill() { cairo_fill(context) }

    /// Fills an area with the source colour, under the nonzero rule.
    func fill(_ area: Path) {
        var path = newPath()
        area.trace(into: &path)
        fill()
    }

    /// Calls with all that is drawn cut to an area; without one, with nothing cut.
    func withClip(_ area: Path?, _ draw: (borrowing CairoContext) -> Void) {
        guard let area else { return draw(self) }
        cairo_save(context)
        var path = newPath()
        area.trace(into: &path)
        cairo_clip(context)
        draw(self)
        cairo_restore(context)
    }

    /// Draws an image.
    /// - Parameter map: from its pixels to board units.
    func draw(_ image: CairoImage, _ map: AffineMap) {
        cairo_save(context)
        var matrix = cairo_matrix_t(
            xx: map.a * scale, yx: map.b * scale, xy: map.c * scale, yy: map.d * scale, x0: map.e * scale,
            y0: map.f * scale)
        cairo_transform(context, &matrix)
        cairo_set_source_surface(context, image.surface, 0, 0)
        cairo_paint(context)
        cairo_restore(context)
    }

    /// Draws a text in its box after a map, inside an area where there is one.
    func draw(
        _ text: TextSource, _ layout: TextLayout, in image: PlacedImage, _ map: AffineMap, clip: Path?
    ) {
        withClip(clip) { context in
            context.withClip(image.area.transformed(by: map)) { context in
                context.setColour(text.colour, opacity: 1)
                cairo_save(context.context)
                var matrix = cairo_matrix_t(
                    xx: map.a, yx: map.b, xy: map.c, yy: map.d, x0: map.e * scale, y0: map.f * scale)
                cairo_transform(context.context, &matrix)
                cairo_translate(context.context, image.box.lower.x * scale, image.box.lower.y * scale)
                layout.show(on: context.context, scale: scale)
                cairo_restore(context.context)
            }
        }
    }

    /// Ends the page.
    func showPage() { cairo_show_page(context) }

    /// The first error, also one of the surface.
    var status: cairo_status_t { cairo_status(context) }
}

/// A sink that adds to the current path of a context; it does not own the context.
package struct CairoPath: VectorPath {
    private let context: OpaquePointer?
    private let scale: Double
    private var position = Vector.zero
    private var start = Vector.zero
    /// Whether the current curve is still a single point.
    private var isDot = false

    init(context: OpaquePointer?, scale: Double) { (self.context, self.scale) = (context, scale) }

    /// Begins a curve. A curve that stays a single point becomes a line of length 0, whose round caps are a dot.
    package mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    /// Ends a curve.
    package mutating func finish() {
        if isDot { line(to: position) }
    }

    package mutating func cubic(control1: Vector, control2: Vector, to end: Vector) {
        let (first, second, last) = (control1 * scale, control2 * scale, end * scale)
        cairo_curve_to(context, first.x, first.y, second.x, second.y, last.x, last.y)
        reach(end)
    }

    package mutating func move(to point: Vector) {
        cairo_move_to(context, point.x * scale, point.y * scale)
        position = point
        start = point
    }

    package mutating func line(to point: Vector) {
        cairo_line_to(context, point.x * scale, point.y * scale)
        reach(point)
    }

    /// Cairo has no quadratic curves; the cubic with handles of two thirds of the way to the control point is the same.
    package mutating func quadratic(control: Vector, to point: Vector) {
        cubic(
            control1: position.interpolated(to: control, at: 2.0 / 3),
            control2: point.interpolated(to: control, at: 2.0 / 3), to: point)
    }

    package mutating func close() {
        cairo_close_path(context)
        position = start
    }

    private mutating func reach(_ end: Vector) {
        isDot = isDot && end == position
        position = end
    }
}

/// Pixels as Cairo keeps them. Not to be shared by threads.
final class CairoImage {
    let surface: OpaquePointer?

    /// Nil for lack of memory, and for more than 32,767 columns or rows.
    init?(_ pixels: ImagePixels) {
        let isOpaque = stride(from: 3, to: pixels.bytes.count, by: 4).allSatisfy { pixels.bytes[$0] == 255 }
        surface = cairo_image_surface_create(
            isOpaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, Int32(pixels.width), Int32(pixels.height))
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { return nil }
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return nil }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for y in 0..<pixels.height {
            let row = UnsafeMutableRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
            for x in 0..<pixels.width {
                let place = (y * pixels.width + x) * 4
                row[x] =
                    UInt32(pixels.bytes[place]) << 16 | UInt32(pixels.bytes[place + 1]) << 8
                    | UInt32(pixels.bytes[place + 2]) | UInt32(pixels.bytes[place + 3]) << 24
            }
        }
        cairo_surface_mark_dirty(surface)
    }

    deinit { cairo_surface_destroy(surface) }

    /// A PNG file; nil for lack of memory.
    var png: [UInt8]? {
        var bytes: [UInt8] = []
        let status = withUnsafeMutablePointer(to: &bytes) { bytes in
            cairo_surface_write_to_png_stream(
                surface,
                { context, data, count in
                    guard let context, let data else { return CAIRO_STATUS_WRITE_ERROR }
                    context.assumingMemoryBound(to: [UInt8].self).pointee
                        .append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                    return CAIRO_STATUS_SUCCESS
                }, bytes)
        }
        return status == CAIRO_STATUS_SUCCESS ? bytes : nil
    }
}
#endif

extension ImagePixels {
    /// A PNG file; nil where there is no encoder.
    var png: [UInt8]? {
        #if canImport(CCairo)
        CairoImage(self)?.png
        #else
        nil
        #endif
    }
}
