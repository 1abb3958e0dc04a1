/// The rows of a ``CoverageMask`` while it is lent for writing. Not to be kept.
struct CoverageRows {
    let bytes: UnsafeMutablePointer<UInt8>
    let spans: UnsafeMutablePointer<RowSpan>
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

    /// Widens what is known to be written of a row.
    @inline(__always)
    func widen(_ y: Int, by columns: Range<Int>) {
        let lower = Int32(truncatingIfNeeded: columns.lowerBound)
        let upper = Int32(truncatingIfNeeded: columns.upperBound)
        if lower < spans[y].lower { spans[y].lower = lower }
        if upper > spans[y].upper { spans[y].upper = upper }
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
        let span = spans[y]
        guard !span.isEmpty else { return }
        // Vectors spill up to three bytes behind the span.
        row(y).advanced(by: Int(span.lower)).update(repeating: 0, count: Int(span.upper - span.lower) + 4)
        spans[y] = .empty
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

extension Float {
    /// This, but at least `bound`; unlike `max` one instruction, and `bound` for what is not a number.
    @inline(__always)
    func raised(to bound: Float) -> Float { self > bound ? self : bound }

    /// This, but at most `bound`.
    @inline(__always)
    func lowered(to bound: Float) -> Float { self < bound ? self : bound }

    /// The nearest integer to a value between 0 and 2²².
    @inline(__always)
    var roundedToInt: Int { Int(truncatingIfNeeded: (self + 8_388_608).bitPattern & 0x7F_FFFF) }
}
