#if canImport(CCairo)
internal import CCairo
internal import Ink
internal import PathGeometry
internal import Raster
package import Scene
internal import StrokeWire

/// Writes boards as a PDF document of vector graphics, one page a board, through cairo.
///
/// A board unit is 0.75 pt, one CSS pixel, so that a page has the size of the SVG of the same board. All is drawn as in
/// ``SVGRenderer``; texts can be selected and searched, in a font that is part of the document; an image is in the document once, on
/// however many pages it is, and a frame where it has more than 32,767 columns or rows. Pages are white. The same boards give the
/// same bytes.
public enum PDFRenderer {
    /// The document could not be written, or would be larger than allowed.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Cairo's message, or that it is too large.
        public let description: String

        fileprivate init(_ status: cairo_status_t) {
            description = String(cString: cairo_status_to_string(status))
        }

        private init(_ description: String) {
            self.description = description
        }

        fileprivate static let tooLarge = Failure("the document is larger than allowed")
    }

    /// Why drawing ends before the document does.
    fileprivate enum Stop: Error {
        case unwanted
        case failed(Failure)
    }

    /// The document, each board at its own scale.
    ///
    /// Safe on any thread. The document is built in memory.
    /// - Parameter pages: the boards in order, each with its scale, above 0: 1 is 0.75 pt a board unit.
    public static func render(_ pages: [(drawing: BoardDrawing, scale: Double)]) throws(Failure) -> [UInt8] {
        var scenes = SceneCache(byteLimit: 0)
        return try render(pages, scenes: &scenes) { true } ?? []
    }

    /// So many times the steps of a page may all pages of a document take together.
    private static let stepsOfPages: Int64 = 8

    /// The document, of at most `byteLimit` bytes; while it is made it takes about four times as many.
    ///
    /// - Parameters:
    ///   - limits: of what lassos and erasers make of each page.
    ///   - scenes: has what was cut for earlier pictures of the same pages.
    ///   - isWanted: called before each stroke and each contour of an outline; false ends the drawing, and there is no document.
    package static func render(
        _ pages: [(drawing: BoardDrawing, scale: Double)], limits: DisplayList.Limits = DisplayList.Limits(),
        byteLimit: Int = .max, scenes: inout SceneCache, while isWanted: () -> Bool
    ) throws(Failure) -> [UInt8]? {
        let document = PDFDocument(byteLimit: byteLimit)
        var images = PDFImages()
        var steps: Int64 = 0
        for (board, scale) in pages {
            guard let scene = try? scenes.scene(of: board, limits: limits, while: isWanted) else { return nil }
            // Those of pages that were cut before, too, so that a document is refused whatever is kept.
            steps += scene.steps
            guard steps / Self.stepsOfPages <= limits.steps else { throw .tooLarge }
            let scale = scale > 0 && scale.isFinite ? scale : 1
            var memory = PageMemory(byteLimit: byteLimit)
            do throws(Stop) {
                try document.page(width: board.width, height: board.height, scale: scale * 0.75) {
                    (context) throws(Stop) in
                    try draw(board, scale, scene, &images, &memory, on: context, while: isWanted)
                }
            } catch {
                switch error {
                case .unwanted: return nil
                case .failed(let failure): throw failure
                }
            }
        }
        let bytes = try document.finish()
        // Their surfaces are looked at until the end.
        withExtendedLifetime(images) {}
        return bytes
    }

    private static func draw(
        _ board: BoardDrawing, _ scale: Double, _ scene: PageScene, _ images: inout PDFImages,
        _ memory: inout PageMemory, on context: borrowing CairoContext, while isWanted: () -> Bool
    ) throws(Stop) {
        if let paper = board.paper { draw(paper, of: board, scale, &images, on: context) }
        for content in board.contents(over: scene) {
            guard isWanted() else { throw .unwanted }
            switch content {
            case .stroke(let painted):
                if let stroke = DrawableStroke(painted, width: board.width, height: board.height) {
                    try draw(stroke, &memory, on: context, while: isWanted)
                }
            case .area(let path, let colour, let opacity):
                try memory.keep(path.contours)
                context.setColour(colour, opacity: opacity)
                context.fill(path)
            case .image(let image, let map, let clip): images.draw(image, board.images, map, clip: clip, on: context)
            }
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
    }

    private static func draw(
        _ paper: PagePaper, of board: BoardDrawing, _ scale: Double, _ images: inout PDFImages,
        on context: borrowing CairoContext
    ) {
        if case .image(let image, let map, _)? = paper.content {
            return images.draw(image, board.images, map, clip: nil, on: context)
        }
        let rows = paper.rows(within: board.height, scale: scale)
        let columns = paper.columns(within: board.width, scale: scale)
        if rows.isEmpty, columns.isEmpty { return }
        context.setColour(PagePaper.colour, opacity: 1)
        var path = context.newPath()
        func line(_ from: Point, _ to: Point) {
            path.begin(at: from, nib: Nib(width: 0))
            path.line(to: to)
            path.finish()
        }
        // As wide as lines of pixels are in a picture of that size, and like these on the far side of their places.
        let width = Double(PagePaper.lineWidth) / scale
        if paper.isDotted {
            // A board that is narrower than the distance of the dots has none.
            guard let first = columns.first else { return }
            for y in rows { line(Point(first + width, y + width), Point(board.width, y + width)) }
            context.strokeDots(width: 2 * width, distance: first)
        } else {
            for y in rows { line(Point(0, y + width / 2), Point(board.width, y + width / 2)) }
            for x in columns { line(Point(x + width / 2, 0), Point(x + width / 2, board.height)) }
            context.stroke(width: width)
        }
    }

    private static func draw(
        _ stroke: DrawableStroke, _ memory: inout PageMemory, on context: borrowing CairoContext,
        while isWanted: () -> Bool
    ) throws(Stop) {
        context.setColour(stroke.colourOnWhite, opacity: stroke.opacity)
        switch stroke.form {
        case .curve(let width):
            try memory.keep(curves: stroke.ink.points.count)
            var path = context.newPath()
            stroke.ink.trace(into: &path)
            path.finish()
            context.stroke(width: width)
        case .outline(let outline): try fill(outline, &memory, on: context, while: isWanted)
        }
        for tone in stroke.darker {
            context.setColour(stroke.colourOnWhite, opacity: tone.opacity)
            try fill(tone.outline, &memory, on: context, while: isWanted)
        }
    }

    private static func fill(
        _ outline: StrokeOutline, _ memory: inout PageMemory, on context: borrowing CairoContext,
        while isWanted: () -> Bool
    ) throws(Stop) {
        var path = context.newPath()
        try outline.forEachContour { (contour) throws(Stop) in
            guard isWanted() else { throw .unwanted }
            try memory.keep([contour])
            contour.trace(into: &path)
        }
        context.fill()
    }
}

/// What cairo keeps of a page: it writes nothing of a page before its end.
private struct PageMemory {
    let byteLimit: Int
    private var bytes = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Bytes of a line and of a cubic curve: its points as pairs of 32 bits, and what it is. In a document, compressed, they take
    /// about as many, seldom less than half.
    private static let line = 9
    private static let curve = 25

    mutating func keep(_ contours: [Contour]) throws(PDFRenderer.Stop) {
        for contour in contours {
            for segment in contour.segments {
                if case .line = segment { bytes += Self.line } else { bytes += Self.curve }
            }
        }
        try check()
    }

    mutating func keep(curves: Int) throws(PDFRenderer.Stop) {
        bytes += curves * Self.curve
        try check()
    }

    private func check() throws(PDFRenderer.Stop) {
        guard bytes / 3 <= byteLimit else { throw .failed(.tooLarge) }
    }
}

/// The images of a document: cairo writes the pixels of one surface once.
private struct PDFImages {
    private var images: [PictureSource: CairoImage] = [:]
    private var layouts = RecentLayouts()

    mutating func draw(
        _ image: PlacedImage, _ pixels: PageImages, _ map: AffineMap, clip: Path?, on context: borrowing CairoContext
    ) {
        guard image.isSeen(after: map) else { return }
        if let text = image.text {
            return context.draw(text, layouts.layout(of: text), in: image, map, clip: clip)
        }
        guard let known = pixels[image.source], let drawn = images[image.source] ?? CairoImage(known) else {
            return context.withClip(clip) { context in
                context.setColour(EmptyFrame.colour, opacity: 1)
                context.fill(image.frame(map))
            }
        }
        images[image.source] = drawn
        context.withClip(clip) { context in
            context.draw(drawn, image.map(width: known.width, height: known.height).followed(by: map))
        }
    }
}

extension PlacedImage {
    /// Whether anything of it can be seen after a map. The matrix of a box that is next to nothing has no inverse, and with such
    /// a one cairo's context draws nothing more.
    fileprivate func isSeen(after map: AffineMap) -> Bool {
        let (area, growth, range) = (width * height, abs(map.determinant), 1e-60...1e60)
        return range ~= area && range ~= growth && area * growth > 1e-9 && (map.e + map.f).isFinite
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
        let byteLimit: Int
        /// Whether there were more bytes than allowed.
        var isFull = false

        init(byteLimit: Int) {
            self.byteLimit = byteLimit
        }
    }

    private let surface: OpaquePointer?
    private let output: Unmanaged<Output>

    init(byteLimit: Int) {
        output = Unmanaged.passRetained(Output(byteLimit: byteLimit))
        surface = cairo_pdf_surface_create_for_stream(
            { context, data, count in
                guard let context, let data else { return CAIRO_STATUS_WRITE_ERROR }
                let output = Unmanaged<Output>.fromOpaque(context).takeUnretainedValue()
                guard output.bytes.count + Int(count) <= output.byteLimit else {
                    output.isFull = true
                    return CAIRO_STATUS_WRITE_ERROR
                }
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
    fileprivate func page(
        width: Double, height: Double, scale: Double,
        draw: (borrowing CairoContext) throws(PDFRenderer.Stop) -> Void
    ) throws(PDFRenderer.Stop) {
        cairo_pdf_surface_set_size(surface, width * scale, height * scale)
        let context = CairoContext(surface: surface, scale: scale)
        context.fillPage()
        try draw(context)
        context.showPage()
        // The surface knows nothing of an error of the context, which leaves out the rest of the page, and the page.
        if let failure = failure(context.status) { throw .failed(failure) }
    }

    private func failure(_ status: cairo_status_t) -> PDFRenderer.Failure? {
        if output.takeUnretainedValue().isFull { return .tooLarge }
        return status == CAIRO_STATUS_SUCCESS ? nil : PDFRenderer.Failure(status)
    }

    /// Ends the document and returns its bytes.
    consuming func finish() throws(PDFRenderer.Failure) -> [UInt8] {
        cairo_surface_finish(surface)
        if let failure = failure(cairo_surface_status(surface)) { throw failure }
        return output.takeUnretainedValue().bytes
    }
}
#endif
