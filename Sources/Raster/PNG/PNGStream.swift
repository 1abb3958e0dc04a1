internal import CPNG

/// One image on its way through libpng into memory.
///
/// libpng reports faults by a callback that must not return. All that can go wrong here is a fault of ours or that
/// there is no memory left, so the callback stops the program, as Swift does in both cases; no `setjmp` is needed.
struct PNGStream: ~Copyable {
    /// How the rows are compressed; what is best was measured on real boards, see ``PNGEncoder``.
    struct Effort: Sendable {
        var level: Int32
        var strategy: Int32
        var filter: Int32
    }

    private let png: png_structp
    private let info: png_infop
    private let sink: Sink

    /// Where libpng's output goes. The stream owns it for as long as libpng may call.
    private final class Sink {
        var bytes: [UInt8] = []
    }

    /// Begins an image; `nil` when libpng has no memory for it.
    init?(width: Int, height: Int, colourType: Int32, palette: [UInt32], effort: Effort) {
        let created = png_create_write_struct(
            PNG_LIBPNG_VER_STRING, nil,
            { _, message in fatalError("libpng: \(message.map { String(cString: $0) } ?? "unknown fault")") },
            { _, _ in })
        guard let png = created else { return nil }
        guard let info = png_create_info_struct(png) else {
            var pointer: png_structp? = png
            png_destroy_write_struct(&pointer, nil)
            return nil
        }
        self.png = png
        self.info = info
        sink = Sink()
        png_set_write_fn(
            png, Unmanaged.passUnretained(sink).toOpaque(),
            { png, data, count in
                guard let data, let context = png_get_io_ptr(png) else { return }
                let sink = Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
                sink.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
            }, { _ in })
        png_set_IHDR(
            png, info, UInt32(width), UInt32(height), 8, colourType, PNG_INTERLACE_NONE,
            PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE)
        setPalette(palette)
        png_set_compression_level(png, effort.level)
        png_set_compression_strategy(png, effort.strategy)
        png_set_compression_buffer_size(png, 1 << 16)
        png_set_filter(png, PNG_FILTER_TYPE_BASE, effort.filter)
        png_write_info(png, info)
    }

    deinit {
        var png: png_structp? = png
        var info: png_infop? = info
        png_destroy_write_struct(&png, &info)
    }

    /// Adds a row: as many bytes as the width and the colour type ask for.
    func write(row: UnsafePointer<UInt8>) {
        png_write_row(png, row)
    }

    /// Ends the image, once all rows are written, and hands it over.
    consuming func finish() -> [UInt8] {
        png_write_end(png, info)
        return sink.bytes
    }

    private func setPalette(_ colours: [UInt32]) {
        guard !colours.isEmpty else { return }
        let entries = colours.map { colour in
            png_color(
                red: UInt8(truncatingIfNeeded: colour), green: UInt8(truncatingIfNeeded: colour >> 8),
                blue: UInt8(truncatingIfNeeded: colour >> 16))
        }
        png_set_PLTE(png, info, entries, Int32(entries.count))
        let alphas = colours.map { UInt8(truncatingIfNeeded: $0 >> 24) }
        if alphas.contains(where: { $0 != 255 }) {
            png_set_tRNS(png, info, alphas, Int32(alphas.count), nil)
        }
    }
}
