/// How the columns of a box are told apart in 64 bits a row: a bit for each block of columns, the leftmost lowest.
///
/// A block is four pixels wide, or as many times twice that as it takes. Blocks begin at the left border of the box.
struct RowBlocks: Sendable {
    /// The block of a column is the column shifted right by this.
    let shift: Int

    /// Columns behind the last one that whole vectors may spill into, and that belong to blocks, too.
    static let slack = 8

    init(width: Int) {
        var shift = 2
        while (width + Self.slack - 1) >> shift > 63 { shift += 1 }
        self.shift = shift
    }

    /// How many columns a block has.
    @inline(__always)
    var columns: Int { 1 &<< shift }

    /// How far rows of memory have to be from each other.
    func stride(width: Int) -> Int { ((width + Self.slack + columns - 1) >> shift) << shift }

    /// The bits of the blocks that hold some columns, at least one.
    @inline(__always)
    func bits(_ columns: Range<Int>) -> UInt64 {
        (~0 &<< UInt64(truncatingIfNeeded: columns.lowerBound &>> shift))
            & (~0 &>> UInt64(truncatingIfNeeded: 63 &- ((columns.upperBound &- 1) &>> shift)))
    }

    /// The first column of a block.
    @inline(__always)
    func first(_ block: Int) -> Int { block &<< shift }

    /// The columns from the first of some blocks to the last.
    @inline(__always)
    func span(_ bits: UInt64) -> Range<Int> {
        Range(uncheckedBounds: (first(bits.trailingZeroBitCount), first(64 &- bits.leadingZeroBitCount)))
    }

    /// Takes the lowest blocks that follow each other, and returns their numbers; some bit has to be set.
    @inline(__always)
    static func takeSpan(of bits: inout UInt64) -> Range<Int> {
        // Adding the lowest bit carries through all that follow it.
        let carried = bits &+ (bits & (0 &- bits))
        defer { bits &= carried }
        return Range(uncheckedBounds: (bits.trailingZeroBitCount, carried.trailingZeroBitCount))
    }
}
