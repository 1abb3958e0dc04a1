/// Compresses rows of pixels, given as runs of equal pixels, into zlib's format (RFC 1950, 1951).
///
/// A board is paper and solid ink with thin soft edges between: what repeats is the previous pixel. So all matches have the
/// distance of one pixel, and nothing is searched for. Each block has Huffman codes of its own.
struct RunDeflater {
    /// Runs of one block: 512 KiB.
    private static let blockRuns = 1 << 16

    private let pixelBytes: Int
    private var block: [ByteRun] = []
    private var output = BitWriter()
    private var checksum = Adler32()

    /// - Parameter pixelBytes: bytes of a pixel: 1, 3 or 4.
    init(pixelBytes: Int) {
        self.pixelBytes = pixelBytes
        block.reserveCapacity(Self.blockRuns)
        output.write(0x0178, length: 16)
    }

    /// Begins a row with the byte of its filter: none.
    mutating func beginRow() {
        append(.rowBegin)
    }

    /// Adds `count` equal pixels, 1 or more; their bytes are the lowest ones of the value, lowest first. At most 2¹⁴
    /// pixels a row.
    @inline(__always)
    mutating func add(_ value: UInt32, count: UInt32) {
        append(ByteRun(value: value, count: count))
    }

    /// Ends the last row. Returns the compressed bytes.
    consuming func finish() -> [UInt8] {
        writeBlock(isLast: true)
        return output.bytes + checksum.value.bigEndianBytes
    }

    @inline(__always)
    private mutating func append(_ run: ByteRun) {
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

/// Equal pixels side by side, as the file has them.
struct ByteRun {
    /// The bytes of the pixel, lowest first.
    let value: UInt32
    /// Their number, at most 2¹⁴; 0 for the byte with which a row begins.
    let count: UInt32

    static let rowBegin = ByteRun(value: 0, count: 0)
}

/// The checksum of zlib's format (RFC 1950), a run of pixels at a time.
struct Adler32 {
    private static let modulus: UInt64 = 65_521

    private var low: UInt64 = 1
    private var high: UInt64 = 0

    var value: UInt32 { UInt32(high % Self.modulus) << 16 | UInt32(low % Self.modulus) }

    /// Adds the bytes of some runs.
    mutating func add(_ runs: [ByteRun], pixelBytes: Int) {
        for run in runs {
            guard run.count > 0 else {
                // Once a row suffices: a row has at most 2¹⁶ bytes.
                low %= Self.modulus
                high = (high &+ low) % Self.modulus
                continue
            }
            add(run, pixelBytes: UInt64(pixelBytes))
        }
    }

    /// Adds a run of any length in constant time: each byte counts once in the low sum, and in the high sum as often as
    /// there are bytes from it on.
    @inline(__always)
    private mutating func add(_ run: ByteRun, pixelBytes: UInt64) {
        var sum: UInt64 = 0
        var staggered: UInt64 = 0
        for place in 0..<pixelBytes {
            let byte = UInt64(run.value >> UInt32(8 &* place) & 255)
            sum &+= byte
            staggered &+= byte &* place
        }
        let count = UInt64(run.count)
        high &+= count &* pixelBytes &* low &+ sum &* pixelBytes &* (count &* (count &+ 1) / 2) &- staggered &* count
        low &+= count &* sum
    }
}
