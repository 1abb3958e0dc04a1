internal import CPNG

/// Writes a canvas as a PNG file.
///
/// Boards are mostly paper, so the rows go unfiltered into zlib's run-length strategy. An image of at most 256 colours
/// gets a palette, which also means a quarter of the bytes to compress.
public enum PNGEncoder {
    /// Why no image came out.
    public enum Failure: Error, Sendable {
        /// libpng could not get memory.
        case outOfMemory
    }

    /// The whole canvas, or a version of it scaled to `width` pixels (1 … ``Canvas/largestSide``) of the same aspect.
    ///
    /// 8 bits a channel; opaque on white, or with straight alpha.
    public static func encode(
        _ canvas: Canvas, width: Int? = nil, background: PNGBackground = .white
    ) throws(Failure) -> [UInt8] {
        guard let width, width != canvas.width else {
            return try encode(canvas, background: background, effort: effort)
        }
        let across = min(max(width, 1), Canvas.largestSide)
        let down = max((across * canvas.height + canvas.width / 2) / canvas.width, 1)
        return try encode(canvas.scaled(width: across, height: down), background: background, effort: effort)
    }

    /// `Z_RLE` of zlib.h: matches only with the byte before.
    private static let zRLE: Int32 = 3

    static let effort = PNGStream.Effort(level: 1, strategy: zRLE, filter: PNG_FILTER_NONE)

    static func encode(
        _ canvas: Canvas, background: PNGBackground, effort: PNGStream.Effort
    ) throws(Failure) -> [UInt8] {
        let census = ColourCensus(canvas, background: background)
        let format = Format(background: background, hasPalette: census != nil)
        guard
            let stream = PNGStream(
                width: canvas.width, height: canvas.height, colourType: format.colourType,
                palette: census?.colours ?? [], effort: effort)
        else { throw .outOfMemory }
        let rows = CanvasRows(canvas, background: background)
        var pixels = [UInt32](repeating: 0, count: canvas.width)
        var bytes = [UInt8](repeating: 0, count: canvas.width * format.bytesPerPixel)
        pixels.withUnsafeMutableBufferPointer { pixels in
            bytes.withUnsafeMutableBufferPointer { bytes in
                guard let pixels = pixels.baseAddress, let bytes = bytes.baseAddress else { return }
                for y in 0..<canvas.height {
                    rows.showRow(y, to: pixels)
                    format.pack(pixels, count: canvas.width, census: census, into: bytes)
                    stream.write(row: bytes)
                }
            }
        }
        return stream.finish()
    }

    /// How pixels lie in the rows of the file.
    private enum Format {
        case palette, rgb, rgba

        init(background: PNGBackground, hasPalette: Bool) {
            self = hasPalette ? .palette : background == .white ? .rgb : .rgba
        }

        var bytesPerPixel: Int {
            switch self {
            case .palette: 1
            case .rgb: 3
            case .rgba: 4
            }
        }

        var colourType: Int32 {
            switch self {
            case .palette: PNG_COLOR_TYPE_PALETTE
            case .rgb: PNG_COLOR_TYPE_RGB
            case .rgba: PNG_COLOR_TYPE_RGB_ALPHA
            }
        }

        func pack(
            _ pixels: UnsafePointer<UInt32>, count: Int, census: ColourCensus?, into bytes: UnsafeMutablePointer<UInt8>
        ) {
            switch self {
            case .palette:
                guard let census else { return }
                var last = pixels[0]
                var index = census.index(of: last)
                for x in 0..<count {
                    if pixels[x] != last {
                        last = pixels[x]
                        index = census.index(of: last)
                    }
                    bytes[x] = index
                }
            case .rgb:
                for x in 0..<count {
                    let pixel = pixels[x]
                    bytes[3 &* x] = UInt8(truncatingIfNeeded: pixel)
                    bytes[3 &* x &+ 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                    bytes[3 &* x &+ 2] = UInt8(truncatingIfNeeded: pixel >> 16)
                }
            case .rgba:
                UnsafeMutableRawPointer(bytes).copyMemory(from: pixels, byteCount: count * 4)
            }
        }
    }
}
