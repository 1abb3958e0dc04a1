import CBench
import Raster

/// The image of a canvas on white, in true colour or as one of its channels, encoded by libpng.
struct ReferencePNG {
    /// How the image is compressed: the fastest of zlib's levels that searches for repetitions.
    private static let level: Int32 = 1

    private let width, height: Int
    private let isPlane: Bool
    /// Row by row, three bytes a pixel or one.
    private var bytes: [UInt8] = []

    /// - Parameter isPlane: whether the image is a palette image with the red channel as its numbers, of one byte a pixel.
    init(_ canvas: Canvas, isPlane: Bool) {
        width = canvas.width
        height = canvas.height
        self.isPlane = isPlane
        bytes.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = canvas.pixel(x: x, y: y)
                let shown = pixel &+ (255 - pixel >> 24) &* 0x0101_0101
                for channel in 0..<(isPlane ? 1 : 3) { bytes.append(UInt8(shown >> (8 * UInt32(channel)) & 255)) }
            }
        }
    }

    /// The size of the file, unless libpng cannot write it. Rows are not filtered: with libpng's own choice of filters
    /// handwriting takes longer and is larger.
    func encodedSize() -> Int? {
        var written = [UInt8]()
        var writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nil, nil, nil)
        guard let png = writer else { return nil }
        var information = png_create_info_struct(png)
        defer { png_destroy_write_struct(&writer, &information) }
        guard let header = information else { return nil }
        return withUnsafeMutablePointer(to: &written) { written in
            png_set_write_fn(
                png, written,
                { png, data, count in
                    guard let data, let target = png_get_io_ptr(png) else { return }
                    target.assumingMemoryBound(to: [UInt8].self).pointee.append(
                        contentsOf: UnsafeBufferPointer(start: data, count: count))
                }, { _ in })
            png_set_compression_level(png, Self.level)
            png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE)
            let type = isPlane ? PNG_COLOR_MASK_COLOR | PNG_COLOR_MASK_PALETTE : PNG_COLOR_MASK_COLOR
            png_set_IHDR(
                png, header, UInt32(width), UInt32(height), 8, type, PNG_INTERLACE_NONE,
                PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE)
            if isPlane {
                let greys = (0...255 as ClosedRange<UInt8>).map { png_color(red: $0, green: $0, blue: $0) }
                png_set_PLTE(png, header, greys, Int32(greys.count))
            }
            png_write_info(png, header)
            let rowBytes = bytes.count / height
            bytes.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                for y in 0..<height { png_write_row(png, base + y * rowBytes) }
            }
            png_write_end(png, header)
            return written.pointee.count
        }
    }
}
