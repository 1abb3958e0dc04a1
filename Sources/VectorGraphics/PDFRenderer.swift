#if canImport(CCairo)
internal import CCairo
internal import Ink
internal import PathGeometry
internal import Raster
public import Scene
internal import StrokeWire

/// Writes boards as a PDF document of vector graphics, one page a board, through cairo.
///
/// A board unit is 0.75 pt, one CSS pixel, so that a page has the size of the SVG of the same board. All is drawn as in
/// ``SVGRenderer``; texts can be selected and searched, in a font that is part of the document; an image is in the document once, on however many pages it is. Pages are white. The same boards give the
/// same bytes.
public enum PDFRenderer {
    /// The document could not be written.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Cairo's message.
        public let description: String
    }

    /// The document, each board at its own scale.
    ///
    /// Safe on any thread. The document is built in memory.
    /// - Parameter pages: the boards in order, each with its scale, above 0: 1 is 0.75 pt a board unit.
    public static func render(_ pages: [(drawing: BoardDrawing, scale: Double)]) throws(Failure) -> [UInt8] {
        try render(pages, limits: DisplayList.Limits()) { true } ?? []
    }

    /// The document of boards at one scale.
    ///
    /// - Parameters:
    ///   - limits: of what lassos and erasers make of each page.
    ///   - isWanted: called before each stroke; false ends the drawing, and there is no document.
    public static func render(
        _ boards: [BoardDrawing], scale: Double, limits: DisplayList.Limits = DisplayList.Limits(),
        while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8]? {
        try render(boards.map { (drawing: $0, scale: scale) }, limits: limits, while: isWanted)
    }

    /// The document, all boards at one scale.
    public static func render(_ boards: [BoardDrawing], scale: Double = 1) throws(Failure) -> [UInt8] {
        try render(boards.map { (drawing: $0, scale: scale) })
    }

    private static func render(
        _ pages: [(drawing: BoardDrawing, scale: Double)], limits: DisplayList.Limits, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8]? {
        let document = PDFDocument()
        var images = PDFImages()
        for (board, scale) in pages {
            guard let scene = try? PageScene(of: board, limits: limits, while: isWanted) else { return nil }
            let scale = scale > 0 && scale.isFinite ? scale : 1
            var isWhole = true
            document.page(width: board.width, height: board.height, scale: scale * 0.75) { context in
                isWhole = draw(board, scene, &images, on: context, while: isWanted)
            }
            guard isWhole else { return nil }
        }
        let bytes = try document.finish()
        // Their surfaces are looked at until the end.
        withExtendedLifetime(images) {}
        return bytes
    }

    /// - Returns: whether all of it was drawn.
    private static func draw(
        _ board: BoardDrawing, _ scene: PageScene, _ images: inout PDFImages, on context: borrowing CairoContext,
        while isWanted: () -> Bool
    ) -> Bool {
        if let paper = board.paper { draw(paper, of: board, &images, on: context) }
        for item in scene.items {
            guard isWanted() else { return false }
            switch item.content {
            case .entry: draw(board.entries[item.entry], of: board, &images, on: context)
            case .area(let path, let colour, let opacity):
                context.setColour(colour, opacity: opacity)
                context.fill(path)
            case .image(let image, let map, let clip): images.draw(image, board.images, map, clip: clip, on: context)
            }
        }
        for entry in board.entries[scene.entryCount...] {
            guard isWanted() else { return false }
            draw(entry, of: board, &images, on: context)
        }
        for marks in board.overlay?.marks ?? [] {
            context.setColour(marks.kind.colour, opacity: 1)
            var path = context.newPath()
            for polyline in marks.polylines where !polyline.isEmpty {
                polyline.trace(into: &path)
                path.finish()
            }
            context.stroke(width: marks.kind.pixels / (board.overlay?.scale ?? 1))
        }
        return true
    }

    private static func draw(
        _ paper: PagePaper, of board: BoardDrawing, _ images: inout PDFImages, on context: borrowing CairoContext
    ) {
        if case .image(let image, let map, _)? = paper.content {
            return images.draw(image, board.images, map, clip: nil, on: context)
        }
        context.setColour(PagePaper.colour, opacity: 1)
        var path = context.newPath()
        func line(_ from: Point, _ to: Point) {
            path.begin(at: from, nib: Nib(width: 0))
            path.line(to: to)
            path.finish()
        }
        let (rows, columns) = (paper.rows(within: board.height), paper.columns(within: board.width))
        if paper.isDotted {
            // A board that is narrower than the distance of the dots has none.
            guard let first = columns.first else { return }
            for y in rows { line(Point(first, y), Point(board.width, y)) }
            context.strokeDots(width: Double(2 * PagePaper.lineWidth), distance: first)
        } else {
            for y in rows { line(Point(0, y), Point(board.width, y)) }
            for x in columns { line(Point(x, 0), Point(x, board.height)) }
            context.stroke(width: Double(PagePaper.lineWidth))
        }
    }

    private static func draw(
        _ entry: PageEntry, of board: BoardDrawing, _ images: inout PDFImages, on context: borrowing CairoContext
    ) {
        switch entry.content {
        case .stroke(let painted):
            guard let stroke = DrawableStroke(painted, width: board.width, height: board.height) else { return }
            draw(stroke, on: context)
        case .image(let image): images.draw(image, board.images, .identity, clip: nil, on: context)
        case .lasso: break
        }
    }

    private static func draw(_ stroke: DrawableStroke, on context: borrowing CairoContext) {
        context.setColour(stroke.colourOnWhite, opacity: stroke.opacity)
        var path = context.newPath()
        switch stroke.form {
        case .curve(let width):
            stroke.ink.trace(into: &path)
            path.finish()
            context.stroke(width: width)
        case .outline(let contours):
            for contour in contours { contour.trace(into: &path) }
            context.fill()
        }
        for tone in stroke.darker {
            context.setColour(stroke.colourOnWhite, opacity: tone.opacity)
            var path = context.newPath()
            for contour in tone.contours { contour.trace(into: &path) }
            context.fill()
        }
    }
}

/// The images of a document: cairo writes the pixels of one surface once.
private struct PDFImages {
    private var images: [PictureSource: CairoImage] = [:]

    mutating func draw(
        _ image: PlacedImage, _ pixels: PageImages, _ map: AffineMap, clip: Path?, on context: borrowing CairoContext
    ) {
        guard !image.area.isEmpty else { return }
        if let text = image.text { return context.draw(text, in: image, map, clip: clip) }
        guard let known = pixels[image.source] else {
            return context.withClip(clip) { context in
                context.setColour(EmptyFrame.colour, opacity: 1)
                context.fill(image.frame(map))
            }
        }
        let drawn = images[image.source] ?? CairoImage(known)
        images[image.source] = drawn
        context.withClip(clip) { context in
            context.draw(drawn, image.map(width: known.width, height: known.height).followed(by: map))
        }
    }
}

/// A PDF document that cairo writes into memory.
///
/// Owns the surface and the bytes. Cairo's callback has a pointer to the object with the bytes, which is retained before
/// the surface is made and released after it is finished, when cairo makes no more calls. Cairo calls on the drawing
/// thread.
struct PDFDocument: ~Copyable {
    private final class Output {
        var bytes: [UInt8] = []
    }

    private let surface: OpaquePointer?
    private let output: Unmanaged<Output>

    init() {
        output = Unmanaged.passRetained(Output())
        surface = cairo_pdf_surface_create_for_stream(
            { context, data, count in
                guard let context, let data else { return CAIRO_STATUS_WRITE_ERROR }
                let output = Unmanaged<Output>.fromOpaque(context).takeUnretainedValue()
                output.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                return CAIRO_STATUS_SUCCESS
            }, output.toOpaque(), 1, 1)
        // No date, so that the same boards give the same bytes.
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "")
    }

    deinit {
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
        output.release()
    }

    /// Adds a white page, `scale` points a board unit, and calls `draw` for it.
    func page(width: Double, height: Double, scale: Double, draw: (borrowing CairoContext) -> Void) {
        cairo_pdf_surface_set_size(surface, width * scale, height * scale)
        let context = CairoContext(surface: surface, scale: scale)
        context.fillPage()
        draw(context)
        context.showPage()
    }

    /// Ends the document and returns its bytes.
    consuming func finish() throws(PDFRenderer.Failure) -> [UInt8] {
        cairo_surface_finish(surface)
        let status = cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw PDFRenderer.Failure(description: String(cString: cairo_status_to_string(status)))
        }
        return output.takeUnretainedValue().bytes
    }
}
#endif
