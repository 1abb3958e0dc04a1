extension Canvas {
    /// The picture on a canvas of another size: each pixel is the exact mean of the area that it stands for, rounded to
    /// nearest.
    ///
    /// Integer arithmetic on premultiplied pixels. Width and height are clamped to 1 … ``largestSide``.
    public func scaled(width newWidth: Int, height newHeight: Int) -> Canvas {
        var result = Canvas(width: newWidth, height: newHeight)
        var average = AreaAverage(source: self, width: result.width, height: result.height)
        var runs = PixelRuns(self)
        for y in 0..<result.height {
            average.forEachPainted(y, of: &runs) { x, pixel in
                let tile = (y / Tile.side) * result.columns + x / Tile.side
                result.tiles[tile].withPixels { pixels in
                    pixels[(y % Tile.side) * Tile.side + x % Tile.side] = pixel
                }
            }
        }
        return result
    }
}

/// Averages areas of a canvas, row by row.
///
/// Lengths are in units of which both a source pixel and a result pixel have a whole number: across, a source pixel has as
/// many as the result has columns, and a result pixel as many as the source has columns; likewise down.
private struct AreaAverage {
    private let source: Canvas
    private let width: Int
    private let height: Int
    /// The sums of the current result row: four channels a column.
    private var sums: [SIMD4<UInt64>]

    init(source: Canvas, width: Int, height: Int) {
        self.source = source
        self.width = width
        self.height = height
        sums = [SIMD4<UInt64>](repeating: .zero, count: width)
    }

    /// Calls with the pixels of a result row that are not transparent.
    mutating func forEachPainted(_ y: Int, of runs: inout PixelRuns, _ body: (_ x: Int, _ pixel: UInt32) -> Void) {
        let top = y * source.height
        let bottom = top + source.height
        for sourceY in top / height...(bottom - 1) / height {
            let weight = min(bottom, (sourceY + 1) * height) - max(top, sourceY * height)
            addRow(sourceY, of: &runs, weight: UInt64(weight))
        }
        let area = UInt64(source.width * source.height)
        for x in sums.indices where sums[x] != .zero {
            let mean = (sums[x] &+ area / 2) / area
            body(x, UInt32(mean.x) | UInt32(mean.y) << 8 | UInt32(mean.z) << 16 | UInt32(mean.w) << 24)
            sums[x] = .zero
        }
    }

    /// Adds a source row, a run of equal pixels at a time.
    private mutating func addRow(_ y: Int, of runs: inout PixelRuns, weight: UInt64) {
        runs.withRow(y) { runs in
            var start = 0
            for run in runs {
                let count = Int(run.count)
                defer { start &+= count }
                if run.pixel != 0 { add(run.pixel, start..<start &+ count, weight: weight) }
            }
        }
    }

    /// Adds equal pixels in some columns of the source.
    @inline(__always)
    private mutating func add(_ pixel: UInt32, _ range: Range<Int>, weight: UInt64) {
        let channels = SIMD4<UInt64>(
            UInt64(pixel & 255), UInt64(pixel >> 8 & 255), UInt64(pixel >> 16 & 255), UInt64(pixel >> 24))
        var left = range.lowerBound &* width
        let end = range.upperBound &* width
        var column = left / source.width
        while left < end {
            let right = min(end, (column &+ 1) &* source.width)
            sums[column] &+= channels &* (UInt64(right &- left) &* weight)
            left = right
            column &+= 1
        }
    }
}
