extension Canvas {
    /// The same picture on a canvas of another size: every pixel is the exact average of the area that it stands for.
    ///
    /// Whole-number arithmetic on premultiplied pixels. Both sides are brought into 1 … ``largestSide``.
    public func scaled(width newWidth: Int, height newHeight: Int) -> Canvas {
        var result = Canvas(width: newWidth, height: newHeight)
        var average = AreaAverage(source: self, width: result.width, height: result.height)
        for y in 0..<result.height {
            let row = average.row(y)
            for (column, pixel) in row.enumerated() where pixel != 0 {
                let tile = (y / Tile.side) * result.columns + column / Tile.side
                result.tiles[tile].withPixels { pixels in
                    pixels[(y % Tile.side) * Tile.side + column % Tile.side] = pixel
                }
            }
        }
        return result
    }
}

/// Averages areas of a canvas, row by row.
///
/// Lengths are counted in parts of a pixel of which both a source and a result pixel have a whole number: a source
/// pixel is `width` parts wide and a result pixel as many as the source has columns; likewise downwards.
private struct AreaAverage {
    let source: Canvas
    let width: Int
    let height: Int
    /// Four channels a result column, summed over the rows of the current result row.
    private var sums: [SIMD4<UInt64>]
    private var pixels: [UInt32]

    init(source: Canvas, width: Int, height: Int) {
        self.source = source
        self.width = width
        self.height = height
        sums = [SIMD4<UInt64>](repeating: .zero, count: width)
        pixels = [UInt32](repeating: 0, count: source.width)
    }

    mutating func row(_ y: Int) -> [UInt32] {
        for column in sums.indices { sums[column] = .zero }
        let top = y * source.height
        let bottom = top + source.height
        for sourceY in top / height...(bottom - 1) / height {
            let weight = min(bottom, (sourceY + 1) * height) - max(top, sourceY * height)
            if copyRow(sourceY) { addRow(weight: UInt64(weight)) }
        }
        let area = UInt64(source.width * source.height)
        return sums.map { sum in
            let mean = (sum &+ area / 2) / area
            return UInt32(mean.x) | UInt32(mean.y) << 8 | UInt32(mean.z) << 16 | UInt32(mean.w) << 24
        }
    }

    /// Takes a source row; false where nothing is painted on it.
    private mutating func copyRow(_ y: Int) -> Bool {
        var isPainted = false
        for column in 0..<source.columns {
            let tile = source.tiles[(y / Tile.side) * source.columns + column]
            let from = (y % Tile.side) * Tile.side
            for x in 0..<min(Tile.side, source.width - column * Tile.side) {
                let pixel = tile.isAbsent ? 0 : tile.pixels[from + x]
                pixels[column * Tile.side + x] = pixel
                isPainted = isPainted || pixel != 0
            }
        }
        return isPainted
    }

    private mutating func addRow(weight: UInt64) {
        for x in 0..<width {
            let left = x * source.width
            let right = left + source.width
            for sourceX in left / width...(right - 1) / width {
                let pixel = pixels[sourceX]
                guard pixel != 0 else { continue }
                let overlap = UInt64(min(right, (sourceX + 1) * width) - max(left, sourceX * width)) &* weight
                let channels = SIMD4<UInt64>(
                    UInt64(pixel & 255), UInt64(pixel >> 8 & 255), UInt64(pixel >> 16 & 255), UInt64(pixel >> 24))
                sums[x] = sums[x] &+ channels &* overlap
            }
        }
    }
}
