/// Writes a canvas as a PNG file.
///
/// The rows go unfiltered into a compressor that knows runs of equal pixels alone, see ``RunDeflater``: measured on
/// boards full of handwriting, the whole of it takes a third of the time that zlib takes for compressing at its fastest
/// setting, and makes smaller files than zlib's own run-length strategy. An image of at most 256 colours gets a palette.
public enum PNGEncoder {
    /// The whole canvas, or a version of it scaled to `width` pixels (1 … ``Canvas/largestSide``) of the same aspect.
    ///
    /// 8 bits a channel; opaque on white, or with straight alpha.
    public static func encode(
        _ canvas: Canvas, width: Int? = nil, background: PNGBackground = .white
    ) -> [UInt8] {
        guard let width, width != canvas.width else { return encodeWhole(canvas, background: background) }
        let across = min(max(width, 1), Canvas.largestSide)
        let down = max((across * canvas.height + canvas.width / 2) / canvas.width, 1)
        return encodeWhole(canvas.scaled(width: across, height: down), background: background)
    }

    private static func encodeWhole(_ canvas: Canvas, background: PNGBackground) -> [UInt8] {
        if let census = ColourCensus(canvas, background: background) {
            return file(canvas, format: .palette, palette: census.colours) { pixel in
                UInt32(census.index(of: background.shown(pixel)))
            }
        }
        return file(canvas, format: background == .white ? .rgb : .rgba, palette: []) { background.shown($0) }
    }

    /// - Parameter packed: makes of a premultiplied pixel what the file has for it.
    @inline(__always)
    private static func file(
        _ canvas: Canvas, format: PNGFile.PixelFormat, palette: [UInt32], packed: (UInt32) -> UInt32
    ) -> [UInt8] {
        let runs = PixelRuns(canvas)
        var rows = RunDeflater(pixelBytes: format.pixelBytes)
        for y in 0..<canvas.height {
            rows.beginRow()
            runs.forEachRun(y) { pixel, count in rows.add(packed(pixel), count: count) }
        }
        var file = PNGFile(width: canvas.width, height: canvas.height, format: format)
        if !palette.isEmpty { file.append(palette: palette) }
        file.finish(rows: rows.finish())
        return file.bytes
    }
}
