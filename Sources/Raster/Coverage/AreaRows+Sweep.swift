internal import CLanes

extension AreaRows {
    /// Turns the sums of rows into coverage, 0 … 255, of clear rows of a mask of the same box, and clears the cells.
    func sweep(_ rows: Range<Int>, into mask: CoverageRows) {
        var left: Float = 0
        for y in rows {
            left += lefts[y]
            lefts[y] = 0
            sweep(y, left: left, into: mask)
        }
        // A side that ends at the last row of all leaves its change behind it.
        lefts[rows.upperBound] = 0
        lefts[rows.upperBound &+ 1] = 0
    }

    /// The same of one row, of which `left` is covered from the left border on.
    @inline(__always)
    private func sweep(_ y: Int, left: Float, into mask: CoverageRows) {
        var bits = marks[y]
        marks[y] = 0
        let row = UnsafeMutableRawPointer(cells + y &* stride)
        let bytes = UnsafeMutableRawPointer(mask.row(y))
        var carry = SIMD4<Float>(repeating: left)
        // A single block between two others is swept with them.
        bits |= (bits &<< 1) & (bits &>> 1)
        // Of the blocks that a side passes nearly all are covered in part.
        var covered = bits
        // Where the next block begins that no side has passed yet.
        var x = 0
        while bits != 0 {
            let span = RowBlocks.takeSpan(of: &bits)
            let first = blocks.first(span.lowerBound)
            let end = blocks.first(span.upperBound)
            if carry.x > Self.least, first != x { covered |= cover(bytes, x..<first, carry) }
            x = first
            repeat {
                var sum = row.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<Float>.self)
                row.storeBytes(of: .zero, toByteOffset: x &* 4, as: SIMD4<Float>.self)
                sum = lanes_sums(sum) + carry
                carry = lanes_last(sum)
                bytes.storeBytes(of: Self.levels(sum), toByteOffset: x, as: SIMD4<UInt8>.self)
                x &+= 4
            } while x < end
        }
        // What began inside of the box and did not end there goes on up to its border.
        if carry.x > Self.least, x < width { covered |= cover(bytes, x..<width, carry) }
        mask.marks[y] = covered
        if !isWhole, x > width { (bytes + width).initializeMemory(as: UInt8.self, repeating: 0, count: x &- width) }
    }

    /// Less than this is a rounding error of what has ended.
    private static let least: Float = 0x1p-10

    /// Covers the columns between two blocks alike.
    private func cover(_ bytes: UnsafeMutableRawPointer, _ columns: Range<Int>, _ covered: SIMD4<Float>) -> UInt64 {
        (bytes + columns.lowerBound).initializeMemory(
            as: UInt8.self, repeating: Self.levels(covered).x, count: columns.count)
        return blocks.bits(columns)
    }

    /// Covered parts as whole numbers up to 255, rounded to nearest.
    @inline(__always)
    private static func levels(_ covered: SIMD4<Float>) -> SIMD4<UInt8> {
        lanes_bytes(lanes_whole(covered * 255 + 0.5))
    }
}
