internal import CCairo

/// The slides of the demo: a title, a diagram and a chart, as a PDF of pages of 1024 × 768 points.
///
/// Text is by cairo's own simple fonts; where the system has none, the shapes alone tell enough.
public enum DemoSlides {
    /// Number of pages.
    public static let count = 3

    private static let size = (width: 1024.0, height: 768.0)

    /// Makes the file.
    /// - Returns: nil where cairo fails.
    public static func pdf() -> [UInt8]? {
        var bytes: [UInt8] = []
        let isMade = withUnsafeMutablePointer(to: &bytes) { make(into: $0) }
        return isMade ? bytes : nil
    }

    private static func make(into bytes: UnsafeMutablePointer<[UInt8]>) -> Bool {
        let surface = cairo_pdf_surface_create_for_stream(
            { closure, data, count in
                closure?.assumingMemoryBound(to: [UInt8].self).pointee
                    .append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                return CAIRO_STATUS_SUCCESS
            }, bytes, size.width, size.height)
        let cairo = cairo_create(surface)
        let slide = Slide(cairo)
        for draw in [title, diagram, chart] {
            slide.begin()
            draw(slide)
            cairo_show_page(cairo)
        }
        let isDrawn = cairo_status(cairo) == CAIRO_STATUS_SUCCESS
        cairo_destroy(cairo)
        cairo_surface_finish(surface)
        let isWhole = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
        cairo_surface_destroy(surface)
        return isDrawn && isWhole
    }

    private static func title(_ slide: Slide) {
        slide.fill(0, 0, 40, size.height, .blue)
        slide.fill(40, 0, 8, size.height, .orange)
        slide.text("Newton's second law", 110, 300, size: 64, isBold: true)
        slide.text("Force, mass and acceleration", 112, 362, size: 34, .grey)
        slide.text("Mechanics, lesson 7", 112, 710, size: 22, .grey)
    }

    private static func diagram(_ slide: Slide) {
        slide.text("One force, one mass", 70, 100, size: 40, isBold: true)
        slide.line([(70, 564), (960, 564)], width: 5, .dark)
        for x in stride(from: 80.0, to: 960, by: 28) { slide.line([(x + 16, 567), (x, 586)], width: 2, .grey) }
        slide.fill(150, 414, 200, 134, .lightBlue)
        slide.frame(150, 414, 200, 134, .blue)
        slide.text("m", 232, 498, size: 44, .blue, isBold: true)
        slide.line([(352, 481), (510, 481)], width: 7, .red)
        slide.fill([(540, 481), (504, 464), (504, 498)], .red)
        slide.text("F", 372, 464, size: 34, .red, isBold: true)
        slide.frame(590, 414, 200, 134, .grey, isDashed: true)
    }

    private static func chart(_ slide: Slide) {
        slide.text("How far it gets", 70, 100, size: 40, isBold: true)
        for second in 1...5 {
            let x = 180 + 150 * Double(second - 1)
            let height = 18 * Double(second * second)
            slide.fill(x, 640 - height, 80, height, .lightBlue)
            slide.frame(x, 640 - height, 80, height, .blue)
            slide.text("\(second) s", x + 22, 676, size: 24, .dark)
            slide.text("\(second * second) m", x + 88, 640 - height + 22, size: 20, .grey)
        }
        slide.line([(120, 640), (950, 640)], width: 4, .dark)
        slide.fill([(970, 640), (946, 631), (946, 649)], .dark)
        slide.line([(120, 640), (120, 150)], width: 4, .dark)
        slide.fill([(120, 130), (111, 154), (129, 154)], .dark)
    }
}

/// Draws on a page.
private struct Slide {
    struct Colour {
        let red, green, blue: Double

        static let dark = Colour(red: 0.1, green: 0.12, blue: 0.15)
        static let grey = Colour(red: 0.45, green: 0.48, blue: 0.52)
        static let blue = Colour(red: 0.12, green: 0.31, blue: 0.62)
        static let lightBlue = Colour(red: 0.8, green: 0.87, blue: 0.96)
        static let orange = Colour(red: 0.94, green: 0.55, blue: 0.1)
        static let red = Colour(red: 0.72, green: 0.15, blue: 0.12)
    }

    private let cairo: OpaquePointer?

    init(_ cairo: OpaquePointer?) {
        self.cairo = cairo
    }

    func begin() {
        cairo_set_source_rgb(cairo, 1, 1, 1)
        cairo_paint(cairo)
    }

    func fill(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: Colour) {
        use(colour)
        cairo_rectangle(cairo, x, y, width, height)
        cairo_fill(cairo)
    }

    func fill(_ corners: [(Double, Double)], _ colour: Colour) {
        use(colour)
        for corner in corners { cairo_line_to(cairo, corner.0, corner.1) }
        cairo_fill(cairo)
    }

    func frame(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: Colour, isDashed: Bool = false
    ) {
        use(colour)
        cairo_set_line_width(cairo, 3)
        cairo_set_dash(cairo, [10, 8], isDashed ? 2 : 0, 0)
        cairo_rectangle(cairo, x, y, width, height)
        cairo_stroke(cairo)
        cairo_set_dash(cairo, nil, 0, 0)
    }

    func line(_ places: [(Double, Double)], width: Double, _ colour: Colour) {
        use(colour)
        cairo_set_line_width(cairo, width)
        for place in places { cairo_line_to(cairo, place.0, place.1) }
        cairo_stroke(cairo)
    }

    /// - Parameter y: of the base line.
    func text(_ text: String, _ x: Double, _ y: Double, size: Double, _ colour: Colour = .dark, isBold: Bool = false) {
        use(colour)
        cairo_select_font_face(
            cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
        cairo_set_font_size(cairo, size)
        cairo_move_to(cairo, x, y)
        cairo_show_text(cairo, text)
        cairo_new_path(cairo)
    }

    private func use(_ colour: Colour) { cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue) }
}
