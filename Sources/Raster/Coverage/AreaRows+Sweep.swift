extension AreaRows {
    /// Turns the sums of rows into coverage, 0 … 255, of clear rows of a mask, and clears the cells.
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
        var span = spans[y]
        if abs(left) > Self.least { span = RowSpan(lower: 0, upper: span.isEmpty ? 0 : span.upper) }
        spans[y] = .empty
        guard span.upper >= span.lower else { return }
        let lower = Int(span.lower)
        let upper = Int(span.upper)
        let end = upper < width ? upper : width
        let row = UnsafeMutableRawPointer(cells + y &* stride)
        let bytes = UnsafeMutableRawPointer(mask.row(y))
        var carry = SIMD4<Float>(repeating: left)
        // Only wide rows are worth the search for what no side passes.
        let isWide = end &- lower > 96
        var x = lower
        while x < end {
            var sum = row.loadUnaligned(fromByteOffset: x &* 4, as: SIMD4<Float>.self)
            row.storeBytes(of: .zero, toByteOffset: x &* 4, as: SIMD4<Float>.self)
            sum += SIMD4(0, sum.x, sum.y, sum.z)
            sum += SIMD4(0, 0, sum.x, sum.y)
            sum += carry
            carry = SIMD4(repeating: sum.w)
            bytes.storeBytes(of: Self.bytes(sum), toByteOffset: x, as: SIMD4<UInt8>.self)
            x &+= 4
            if isWide { x = skip(row, bytes, from: x, to: end, Self.bytes(carry).x) }
        }
        while x < upper {
            row.storeBytes(of: .zero, toByteOffset: x &* 4, as: SIMD4<Float>.self)
            x &+= 4
        }
        // What began inside of the box and did not end there goes on up to its border.
        let isOpen = abs(carry.x) > Self.least && end < width
        if isOpen {
            (bytes + end).initializeMemory(as: UInt8.self, repeating: Self.bytes(carry).x, count: width &- end)
        }
        mask.widen(y, by: lower..<(isOpen ? width : end))
    }

    /// Less than this is a rounding error of what has ended.
    private static let least: Float = 0x1p-10

    /// Covers the next pixels alike, 16 at a time, as long as no side passes them; returns how far it came.
    @inline(__always)
    private func skip(
        _ row: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, from: Int, to end: Int, _ byte: UInt8
    ) -> Int {
        var x = from
        while x &+ 16 <= end {
            let cells = row + x &* 4
            let bits =
                cells.loadUnaligned(as: SIMD4<UInt32>.self)
                | cells.loadUnaligned(fromByteOffset: 16, as: SIMD4<UInt32>.self)
                | cells.loadUnaligned(fromByteOffset: 32, as: SIMD4<UInt32>.self)
                | cells.loadUnaligned(fromByteOffset: 48, as: SIMD4<UInt32>.self)
            guard bits == .zero else { return x }
            bytes.storeBytes(of: SIMD16(repeating: byte), toByteOffset: x, as: SIMD16<UInt8>.self)
            x &+= 16
        }
        return x
    }

    /// Covered parts as bytes, rounded to nearest.
    @inline(__always)
    private static func bytes(_ covered: SIMD4<Float>) -> SIMD4<UInt8> {
        // Adding 1.5 · 2²³ leaves the rounded value in the low byte of each lane.
        let rounded = covered.clampedBelow(0).clampedAbove(1) * 255 + 12_582_912
        return SIMD4<UInt8>(truncatingIfNeeded: unsafeBitCast(rounded, to: SIMD4<UInt32>.self))
    }
}
