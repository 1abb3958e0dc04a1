/// The coverage of one stroke: a byte a pixel, 0 … 255, over the part of the canvas that the stroke can touch.
///
/// All bytes are 0 between strokes. Writing marks blocks dirty, and wiping clears the dirty blocks alone. The memory is
/// kept and grows to the largest box asked for.
struct CoverageMask: Sendable {
    private var bytes: [UInt8] = []
    private var dirty: [UInt64] = []

    /// Bytes behind the last row that whole vectors may spill into.
    private static let slack = 16

    /// Lends the clear rows of a box for writing.
    mutating func withRows<Result>(width: Int, height: Int, _ body: (CoverageRows) -> Result) -> Result {
        let blocks = DirtyBlocks(width: width)
        let stride = blocks.stride(width: width)
        let size = stride * height + Self.slack
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        if dirty.count < height { dirty.append(contentsOf: repeatElement(0, count: height - dirty.count)) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            dirty.withUnsafeMutableBufferPointer { dirty in
                guard let bytes = bytes.baseAddress, let dirty = dirty.baseAddress else {
                    preconditionFailure("a box has at least one pixel")
                }
                return body(
                    CoverageRows(
                        bytes: bytes, dirty: dirty, blocks: blocks, stride: stride, width: width, height: height))
            }
        }
    }
}

/// The rows of a ``CoverageMask``; a view that is lent.
struct CoverageRows {
    let bytes: UnsafeMutablePointer<UInt8>
    /// The dirty blocks of each row: all others are 0.
    let dirty: UnsafeMutablePointer<UInt64>
    let blocks: DirtyBlocks
    let stride: Int
    let width: Int
    let height: Int

    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { bytes + y &* stride }

    /// Some of the rows, as rows of their own.
    func part(_ rows: Range<Int>) -> CoverageRows {
        CoverageRows(
            bytes: row(rows.lowerBound), dirty: dirty + rows.lowerBound, blocks: blocks, stride: stride, width: width,
            height: rows.count)
    }

    /// The rows whose pixel centres lie between two heights.
    @inline(__always)
    func rows(from top: Float, to bottom: Float) -> Range<Int> { Self.centres(from: top, to: bottom, below: height) }

    /// The columns whose pixel centres lie between two places.
    @inline(__always)
    func columns(from left: Float, to right: Float) -> Range<Int> { Self.centres(from: left, to: right, below: width) }

    @inline(__always)
    static func centres(from low: Float, to high: Float, below count: Int) -> Range<Int> {
        // A centre lies at a half, so that rounding a bound gives the first centre behind it.
        let limit = Float(count)
        let first = low.raised(to: 0).lowered(to: limit).roundedToInt
        let end = high.raised(to: 0).lowered(to: limit).roundedToInt
        return Range(uncheckedBounds: (first, first > end ? first : end))
    }

    /// Calls with the columns of each range of neighbouring dirty blocks.
    @inline(__always)
    func forEachDirtyRange(_ y: Int, _ body: (Range<Int>) -> Void) {
        var bits = dirty[y]
        while bits != 0 {
            let range = DirtyBlocks.takeRange(of: &bits)
            body(Range(uncheckedBounds: (blocks.first(range.lowerBound), blocks.first(range.upperBound))))
        }
    }

    /// Whether every pixel is covered. Ends at the first that is not: the upper left one, for most strokes.
    var isFull: Bool {
        (0..<height).allSatisfy { y in
            let row = row(y)
            return (0..<width).allSatisfy { row[$0] == 255 }
        }
    }

    /// Covers every pixel alike.
    func fill(_ coverage: UInt8 = 255) {
        for y in 0..<height {
            row(y).update(repeating: coverage, count: width)
            dirty[y] = blocks.bits(0..<width)
        }
    }

    /// Wipes the dirty blocks of a row.
    @inline(__always)
    func wipe(_ y: Int) {
        let row = row(y)
        forEachDirtyRange(y) { columns in
            (row + columns.lowerBound).update(repeating: 0, count: columns.count)
        }
        dirty[y] = 0
    }

    /// Wipes all dirty blocks.
    func wipe() {
        for y in 0..<height { wipe(y) }
    }

    /// Raises four pixels to the given coverages, 0 … 255.
    @inline(__always)
    static func raise(_ place: UnsafeMutablePointer<UInt8>, _ coverage: SIMD4<Float>) {
        // Adding 1.5 · 2²³ leaves the rounded value in the low byte of each lane.
        let rounded = coverage + 12_582_912
        let new = SIMD4<UInt8>(truncatingIfNeeded: unsafeBitCast(rounded, to: SIMD4<UInt32>.self))
        let raw = UnsafeMutableRawPointer(place)
        let old = raw.loadUnaligned(as: SIMD4<UInt8>.self)
        raw.storeBytes(of: old.replacing(with: new, where: new .> old), as: SIMD4<UInt8>.self)
    }
}

/// The blocks of columns of a box: 64 at most, so that one word a row has a bit for each, the leftmost lowest.
///
/// A block is 4 pixels wide, or 8, 16 and so on in wide boxes. The first begins at the left border of the box.
struct DirtyBlocks: Sendable {
    /// The binary logarithm of the width of a block.
    let shift: Int

    /// Columns behind the last one that whole vectors may spill into; blocks include them.
    static let slack = 12

    init(width: Int) {
        var shift = 2
        while (width + Self.slack - 1) >> shift > 63 { shift += 1 }
        self.shift = shift
    }

    /// The width of a block in columns.
    @inline(__always)
    var columns: Int { 1 &<< shift }

    /// The distance of rows in memory for a box of that width.
    func stride(width: Int) -> Int { ((width + Self.slack + columns - 1) >> shift) << shift }

    /// The bits of the blocks of some columns, at least one.
    @inline(__always)
    func bits(_ columns: Range<Int>) -> UInt64 {
        (~0 &<< UInt64(truncatingIfNeeded: columns.lowerBound &>> shift))
            & (~0 &>> UInt64(truncatingIfNeeded: 63 &- ((columns.upperBound &- 1) &>> shift)))
    }

    @inline(__always)
    func first(_ block: Int) -> Int { block &<< shift }

    /// The columns from the first to the last of some blocks, at least one.
    @inline(__always)
    func hull(_ bits: UInt64) -> Range<Int> {
        Range(uncheckedBounds: (first(bits.trailingZeroBitCount), first(64 &- bits.leadingZeroBitCount)))
    }

    /// Removes the lowest range of neighbouring blocks and returns it; at least one bit has to be set.
    @inline(__always)
    static func takeRange(of bits: inout UInt64) -> Range<Int> {
        // Adding the lowest bit carries through all that follow it.
        let carried = bits &+ (bits & (0 &- bits))
        defer { bits &= carried }
        return Range(uncheckedBounds: (bits.trailingZeroBitCount, carried.trailingZeroBitCount))
    }
}
