#if canImport(CCairo)
internal import CCairo
internal import Ink
internal import Raster

/// Draws on one page in board units. What goes wrong stays in the surface, and is asked for when the document ends.
struct CairoContext: ~Copyable {
    private let context: OpaquePointer?

    init(surface: OpaquePointer?, scale: Double) {
        context = cairo_create(surface)
        cairo_scale(context, scale, scale)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        cairo_set_fill_rule(context, CAIRO_FILL_RULE_WINDING)
    }

    deinit { cairo_destroy(context) }

    /// Sets the colour of what comes.
    func setColour(_ colour: RGB, opacity: Double) {
        cairo_set_source_rgba(
            context, Double(colour.red) / 255, Double(colour.green) / 255, Double(colour.blue) / 255, opacity)
    }

    /// Covers the page with white.
    func fillPage() {
        setColour(RGB(0xFF_FFFF), opacity: 1)
        cairo_paint(context)
    }

    /// Begins a path; valid as long as the context.
    func newPath() -> CairoPath {
        cairo_new_path(context)
        return CairoPath(context: context)
    }

    /// Draws the current path with a round pen.
    func stroke(width: Double) {
        cairo_set_line_width(context, width)
        cairo_stroke(context)
    }

    /// Fills the current path under the nonzero rule.
    func fill() { cairo_fill(context) }

    /// Ends the page.
    func showPage() { cairo_show_page(context) }
}
#endif
