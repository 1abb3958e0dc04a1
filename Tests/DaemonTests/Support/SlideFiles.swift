import CCairo
import CJPEG
import Foundation
import TestSupport

/// Files of slides, made by the libraries that other programs make them with.
enum SlideFiles {
    /// Red, green and blue of the upper left quarter of a page.
    static func colour(ofPage page: Int) -> [Double] { [Double(page % 3) / 2, 0.4, 0.6] }

    /// A PDF by cairo.
    /// - Parameter sizes: width and height of each page in points.
    static func pdf(_ sizes: [(width: Double, height: Double)]) -> [UInt8] {
        let bytes = UnsafeMutablePointer<[UInt8]>.allocate(capacity: 1)
        bytes.initialize(to: [])
        defer {
            bytes.deinitialize(count: 1)
            bytes.deallocate()
        }
        let surface = cairo_pdf_surface_create_for_stream(
            { closure, data, count in
                closure?.assumingMemoryBound(to: [UInt8].self).pointee
                    .append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                return CAIRO_STATUS_SUCCESS
            }, bytes, 1, 1)
        let cairo = cairo_create(surface)
        for (page, size) in sizes.enumerated() {
            cairo_pdf_surface_set_size(surface, size.width, size.height)
            let colour = colour(ofPage: page)
            cairo_set_source_rgb(cairo, colour[0], colour[1], colour[2])
            cairo_rectangle(cairo, 0, 0, size.width / 2, size.height / 2)
            cairo_fill(cairo)
            cairo_show_page(cairo)
        }
        cairo_destroy(cairo)
        cairo_surface_finish(surface)
        cairo_surface_destroy(surface)
        return bytes.pointee
    }

    /// A grey JPEG by libjpeg.
    static func jpeg(width: Int, height: Int) -> [UInt8] {
        let pixels = (0..<height).flatMap { row in (0..<width).map { UInt8(truncatingIfNeeded: $0 + row) } }
        var count: UInt = 0
        let file = lectern_jpeg(UInt32(width), UInt32(height), 1, pixels, false, 0, &count)
        defer { file?.deallocate() }
        return Array(UnsafeBufferPointer(start: file, count: Int(count)))
    }
}

/// PDFs that open with a password only, by qpdf.
enum EncryptedPDF {
    static var canBeMade: Bool { InstalledProgram("qpdf") != nil }

    /// - Parameter folder: where files lie meanwhile.
    static func make(_ file: [UInt8], password: String, in folder: URL) throws -> [UInt8] {
        let (plain, locked) = (
            folder.appendingPathComponent("plain.pdf"), folder.appendingPathComponent("encrypted.pdf")
        )
        try Data(file).write(to: plain)
        let arguments = ["--encrypt", password, "owner", "256", "--", plain.path, locked.path]
        guard try InstalledProgram("qpdf")?.run(arguments) != nil else { throw Unexpected("qpdf failed") }
        return Array(try Data(contentsOf: locked))
    }
}
