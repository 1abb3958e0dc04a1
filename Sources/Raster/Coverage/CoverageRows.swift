/// The rows of a ``CoverageMask`` while it is lent for writing. Not to be kept.
struct CoverageRows {
    let bytes: UnsafeMutablePointer<UInt8>
    /// Which blocks of each row hold anything.
    let marks: UnsafeMutablePointer<UInt64>
    let blocks: RowBlocks
    let stride: Int
    let width: Int
    let height: Int

    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { bytes + y &* stride }

    /// The rows whose pixel centres lie between two heights.
    @inline(__always)
    func rows(from top: Float, to bottom: Float) -> Range<Int> { Self.centres(from: top, to: bottom, below: height) }

    /// The columns whose pixel centres lie between two places.
    @inline(__always)
    func columns(from left: Float, to right: Float) -> Range<Int> { Self.centres(from: left, to: right, below: width) }

    @inline(__always)
    private static func centres(from low: Float, to high: Float, below count: Int) -> Range<Int> {
        // A centre lies at a half, so that rounding a bound gives the first centre behind it.
        let limit = Float(count)
        let first = low.raised(to: 0).lowered(to: limit).roundedToInt
        let end = high.raised(to: 0).lowered(to: limit).roundedToInt
        return Range(uncheckedBounds: (first, first > end ? first : end))
    }

    /// Calls with the columns of each block that is marked, and those behind it that are marked, too.
    @inline(__always)
    func forEachSpan(_ y: Int, _ body: (Range<Int>) -> Void) {
        var bits = marks[y]
        while bits != 0 {
            let span = RowBlocks.takeSpan(of: &bits)
            body(Range(uncheckedBounds: (blocks.first(span.lowerBound), blocks.first(span.upperBound))))
        }
    }

    /// Whether every pixel is covered; for most strokes the first one is not.
    var isFull: Bool {
        (0..<height).allSatisfy { y in
            let row = row(y)
            return (0..<width).allSatisfy { row[$0] == 255 }
        }
    }

    /// Wipes what was written of a row.
    @inline(__always)
    func wipe(_ y: Int) {
        let row = row(y)
        forEachSpan(y) { columns in
            (row + columns.lowerBound).update(repeating: 0, count: columns.count)
        }
        marks[y] = 0
    }

    /// Wipes all that was written.
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
