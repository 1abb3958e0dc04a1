#if canImport(CCairo)
internal import CCairo

/// A PDF document that cairo writes into memory.
///
/// Owns the surface and the bytes: the callback has a pointer to the box of the bytes, which is retained before the
/// surface is made and released after the surface is finished, when cairo calls no more. Cairo calls it on the thread
/// that draws.
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
        // Without a date the same boards give the same bytes.
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "")
    }

    deinit {
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
        output.release()
    }

    /// Adds a page of white paper, `scale` points a board unit, and lets `draw` cover it.
    func page(width: Double, height: Double, scale: Double, draw: (borrowing CairoContext) -> Void) {
        cairo_pdf_surface_set_size(surface, width * scale, height * scale)
        let context = CairoContext(surface: surface, scale: scale)
        context.fillPage()
        draw(context)
        context.showPage()
    }

    /// Ends the document and hands it over.
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
