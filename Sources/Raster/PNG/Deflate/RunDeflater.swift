/// Compresses rows of pixels into zlib's format (RFC 1950, 1951), given as runs of equal pixels.
///
/// A board is paper and solid ink with thin blurred edges between: what repeats is the pixel before. So the only
/// matches are those of that distance, and nothing has to be searched for; blank paper costs nothing but its run. The
/// rest is Huffman codes of each block's own.
struct RunDeflater {
    /// Runs of one block: 512 KiB.
    private static let blockRuns = 1 << 16

    private let pixelBytes: Int
    private var block: [PixelRun] = []
    private var output = BitWriter()
    private var checksum = Adler32()

    /// - Parameter pixelBytes: bytes of a pixel: 1, 3 or 4.
    init(pixelBytes: Int) {
        self.pixelBytes = pixelBytes
        block.reserveCapacity(Self.blockRuns)
        output.write(0x0178, length: 16)
    }

    /// Begins a row with the byte that says how it is filtered: not at all.
    mutating func beginRow() {
        append(.rowBegin)
    }

    /// Adds `count` equal pixels, 1 or more; their bytes are the lowest ones of the value, lowest first. At most 2¹⁴
    /// pixels a row.
    @inline(__always)
    mutating func add(_ value: UInt32, count: Int) {
        append(PixelRun(value: value, count: UInt32(truncatingIfNeeded: count)))
    }

    /// Ends the last row and hands over all there is.
    consuming func finish() -> [UInt8] {
        writeBlock(isLast: true)
        return output.bytes + checksum.value.bigEndianBytes
    }

    @inline(__always)
    private mutating func append(_ run: PixelRun) {
        block.append(run)
        if block.count == Self.blockRuns { writeBlock(isLast: false) }
    }

    private mutating func writeBlock(isLast: Bool) {
        checksum.add(block, pixelBytes: pixelBytes)
        let code = RunCode(block, pixelBytes: pixelBytes)
        code.writeHeader(isLast: isLast, to: &output)
        code.write(block, to: &output)
        block.removeAll(keepingCapacity: true)
    }
}

/// Some equal pixels side by side, as the file has them.
struct PixelRun {
    /// The bytes of the pixel, lowest first.
    let value: UInt32
    /// How many, at most 2¹⁴; 0 for the byte with which a row begins.
    let count: UInt32

    static let rowBegin = PixelRun(value: 0, count: 0)
}
