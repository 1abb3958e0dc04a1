extension AreaRows {
    /// Turns the sums of one row into coverage, 0 … 255, of a clear row of a mask, and clears the cells.
    @inline(__always)
    func sweep(_ y: Int, into mask: CoverageRows) {
        let span = spans[y]
        spans[y] = .empty
        guard !span.isEmpty else { return }
        let lower = Int(span.lower)
        let upper = Int(span.upper)
        let end = upper < width ? upper : width
        mask.widen(y, by: lower..<end)
        let row = UnsafeMutableRawPointer(cells + y &* stride)
        let bytes = UnsafeMutableRawPointer(mask.row(y))
        var carry = SIMD4<Float>.zero
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
        }
        while x < upper {
            row.storeBytes(of: .zero, toByteOffset: x &* 4, as: SIMD4<Float>.self)
            x &+= 4
        }
    }

    /// Covered parts as bytes, rounded to nearest.
    @inline(__always)
    private static func bytes(_ covered: SIMD4<Float>) -> SIMD4<UInt8> {
        // Adding 1.5 · 2²³ leaves the rounded value in the low byte of each lane.
        let rounded = covered.clampedBelow(0).clampedAbove(1) * 255 + 12_582_912
        return SIMD4<UInt8>(truncatingIfNeeded: unsafeBitCast(rounded, to: SIMD4<UInt32>.self))
    }
}
