/// Writes a canvas as a PNG file.
///
/// The rows are not filtered, and compressed as runs of equal pixels and repetitions of earlier runs, see `RunDeflater`.
/// On boards full of handwriting this takes about as long as fpng, which is made for speed alone, and the files are smaller
/// than those of libpng at its fastest level. An image of at most 256 colours gets a palette. The bytes of a file depend on
/// the pixels alone.
public enum PNGEncoder {
    /// The file of a canvas, with 8 bits a channel; opaque on white, or with straight alpha.
    public static func encode(_ canvas: Canvas, background: PNGBackground = .white) -> [UInt8] {
        if let palette = PNGPalette(canvas, background: background) {
            return file(canvas, format: .palette, palette: palette.colours) { pixel in
                UInt32(palette.index(of: background.shown(pixel)))
            }
        }
        return file(canvas, format: background == .white ? .rgb : .rgba, palette: []) { background.shown($0) }
    }

    /// - Parameter packed: the bytes of the file for a premultiplied pixel.
    @inline(__always)
    private static func file(
        _ canvas: Canvas, format: PNGFile.PixelFormat, palette: [UInt32], packed: (UInt32) -> UInt32
    ) -> [UInt8] {
        var file = PNGFile(width: canvas.width, height: canvas.height, format: format)
        if !palette.isEmpty { file.append(palette: palette) }
        var rows = RunDeflater(file, pixelBytes: format.pixelBytes)
        var runs = PixelRuns(canvas)
        for y in 0..<canvas.height {
            runs.withRow(y) { rows.add($0, packed: packed) }
        }
        return rows.finish()
    }
}

/// The background of an image.
public enum PNGBackground: Sendable, Hashable {
    /// Opaque white paper.
    case white
    /// Nothing: the image has straight alpha.
    case transparent

    /// The pixel of the image for a premultiplied one; both as `0xAABBGGRR`.
    @inline(__always)
    func shown(_ pixel: UInt32) -> UInt32 {
        let alpha = pixel >> 24
        switch self {
        case .white:
            // Premultiplied colour never exceeds alpha, so that no channel overflows.
            return pixel &+ (255 &- alpha) &* 0x0101_0101
        case .transparent:
            return straightAlpha(pixel)
        }
    }
}

/// The colours of an image that has at most 256 of them.
struct PNGPalette {
    static let maxColours = 256
    private static let slots = 1024

    /// The colours in order of their first appearance.
    private(set) var colours: [UInt32] = []
    /// A hash table with open addressing: 0 for a free slot, else the index of the colour plus 1.
    private var table = [UInt16](repeating: 0, count: slots)

    /// `nil` when there are too many colours.
    init?(_ canvas: Canvas, background: PNGBackground) {
        var runs = PixelRuns(canvas)
        var isFew = true
        for y in 0..<canvas.height where isFew {
            runs.withRow(y) { runs in isFew = runs.allSatisfy { add(background.shown($0.pixel)) } }
        }
        guard isFew else { return nil }
    }

    /// The index of a colour of the image.
    @inline(__always)
    func index(of colour: UInt32) -> UInt8 {
        var slot = Self.slot(colour)
        while table[slot] != 0 {
            let index = Int(table[slot]) - 1
            if colours[index] == colour { return UInt8(truncatingIfNeeded: index) }
            slot = (slot &+ 1) % Self.slots
        }
        return 0
    }

    private mutating func add(_ colour: UInt32) -> Bool {
        var slot = Self.slot(colour)
        while table[slot] != 0 {
            if colours[Int(table[slot]) - 1] == colour { return true }
            slot = (slot &+ 1) % Self.slots
        }
        guard colours.count < Self.maxColours else { return false }
        colours.append(colour)
        table[slot] = UInt16(colours.count)
        return true
    }

    @inline(__always)
    private static func slot(_ colour: UInt32) -> Int {
        Int(truncatingIfNeeded: (colour &* 0x9E37_79B1) >> 22)
    }
}
