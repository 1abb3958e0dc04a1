internal import Ink

/// Builds up the coverage of a stroke from stamps, each put over those before it.
///
/// A stamp adds little, often less than a 255th; so the sum is kept in single precision and rounded once at the end.
struct StampCoverage: Sendable {
    /// So many pixels are visited for one stroke, about, and each pixel of its box so often. Of stamps that ask for more
    /// only some are set, evenly: they are so wide or so dense that the ink is full anyway.
    private static let mostVisits: Float = 16_777_216
    private static let mostVisitsToPixel: Float = 512

    private var sums: [Float] = []

    /// Covers the pixels of a clear mask; the stamps are in pixels of the canvas, and so is `box`, that of the mask.
    /// Returns how many pixels were visited for it, at most.
    mutating func raise(_ rows: CoverageRows, box: PixelBox, stamps: [Stamp]) -> Int {
        let count = rows.width * rows.height
        sums.removeAll(keepingCapacity: true)
        sums.append(contentsOf: repeatElement(0, count: count))
        return sums.withUnsafeMutableBufferPointer { sums in
            let visits = stamps.reduce(0 as Float) { sum, stamp in
                let side = 2 * stamp.radius + 1
                return sum + side.lowered(to: Float(rows.width)) * side.lowered(to: Float(rows.height))
            }
            let most = min(Self.mostVisits, Float(count) * Self.mostVisitsToPixel)
            let every = max(1, Int((visits / most).rounded(.up)))
            for index in stride(from: 0, to: stamps.count, by: every) { Self.add(stamps[index], box, rows, sums) }
            for y in 0..<rows.height {
                rows.marks[y] = rows.blocks.bits(0..<rows.width)
                let row = rows.row(y)
                for x in 0..<rows.width {
                    row[x] = UInt8(truncatingIfNeeded: (sums[y &* rows.width &+ x] * 255).roundedToInt)
                }
            }
            return Int(visits) / every
        }
    }

    private static func add(
        _ stamp: Stamp, _ box: PixelBox, _ rows: CoverageRows, _ sums: UnsafeMutableBufferPointer<Float>
    ) {
        let centreX = stamp.x - Float(box.minX)
        let centreY = stamp.y - Float(box.minY)
        // A brush smaller than a pixel would fall between the centres; it is as faint as it is small.
        let radius = stamp.radius.raised(to: 1)
        let small = stamp.radius / radius
        let alpha = stamp.alpha * small * small
        let columns = rows.columns(from: centreX - radius, to: centreX + radius)
        for y in rows.rows(from: centreY - radius, to: centreY + radius) {
            let dy = Float(y) + 0.5 - centreY
            for x in columns {
                let dx = Float(x) + 0.5 - centreX
                let brush = Stamp.brush((dx * dx + dy * dy).root / radius)
                let place = y &* rows.width &+ x
                sums[place] += (1 - sums[place]) * (alpha * brush)
            }
        }
    }
}
