internal import PathGeometry

/// The colours of an image at the pixels of a canvas.
///
/// A pixel of the canvas is a parallelogram of the image. Where that is thin by more than two pixels of the image, their
/// means over squares of 2, 4, 8 … pixels aside are taken in their place, so that it is one to two of these thin (Williams,
/// 1983, Pyramidal parametrics; the means are exact). Over its length as many places are taken as it has such squares, at
/// most ``maxTaps`` along each side; at each one the colour is interpolated between four squares, with weights of 8 bits.
/// The border of the image goes on outside of it.
///
/// The place of each pixel is computed from its own numbers, in double precision, so that it does not matter which others
/// are painted. All sums are whole numbers.
struct ImageSampler {
    /// The greatest number of places along each side of a pixel: for more the squares are larger.
    private static let maxTaps = 16

    private let level: ImageLevel
    /// Of a place of the canvas the one among squares: x across, x down, y across, y down, and of the canvas' corner.
    private let across, down, corner: Point
    private let tapsAcross, tapsDown: Int

    /// The number of places that are looked at for each pixel.
    var taps: Int { tapsAcross * tapsDown }
    /// The number of pixels of the image whose means were taken.
    let averagedPixels: Int

    /// `nil` where nothing of the image can be seen.
    ///
    /// - Parameters:
    ///   - box: the pixels that will be asked for.
    ///   - last: the means that were taken last. A slide may stand on a page a thousand times.
    init?(_ image: PaintedImage, scale: Double, in box: PixelBox, _ last: inout ImageLevel?) {
        let map = image.map.followed(by: AffineMap(scale, 0, 0, scale, 0, 0))
        let size = map.determinant
        let inverse = AffineMap(
            map.d / size, -map.b / size, -map.c / size, map.a / size, (map.c * map.f - map.d * map.e) / size,
            (map.b * map.e - map.a * map.f) / size)
        guard size != 0, [inverse.a, inverse.b, inverse.c, inverse.d, inverse.e, inverse.f].allSatisfy({ $0.isFinite })
        else { return nil }
        // The sides of a pixel, and its greatest and least extent: the singular values of the map.
        let squares = inverse.a * inverse.a + inverse.b * inverse.b
        let others = inverse.c * inverse.c + inverse.d * inverse.d
        let mixed = inverse.a * inverse.c + inverse.b * inverse.d
        let sum = squares + others
        let rest = ((squares - others) * (squares - others) + 4 * mixed * mixed).squareRoot()
        let longest = ((sum + rest) / 2).squareRoot()
        let thin = abs(inverse.determinant) / longest
        let (wide, tall) = (squares.squareRoot(), others.squareRoot())
        var shift = 0
        let most = max(image.pixels.width, image.pixels.height)
        while 1 << shift < most, thin >= Double(2 << shift) || max(wide, tall) > Double(Self.maxTaps << shift) {
            shift += 1
        }
        let side = Double(1 << shift)
        across = Point(inverse.a, inverse.b) / side
        down = Point(inverse.c, inverse.d) / side
        corner = Point(inverse.e, inverse.f) / side
        func taps(_ length: Double) -> Int { max(1, Int(min((length / side - 1e-6).rounded(.up), 16))) }
        (tapsAcross, tapsDown) = (taps(wide), taps(tall))
        var bounds = Box.empty
        for (x, y) in [(box.minX, box.minY), (box.maxX, box.minY), (box.minX, box.maxY), (box.maxX, box.maxY)] {
            let place = across * Double(x) + down * Double(y) + corner
            // What a map has made all but flat: a pixel of the canvas is longer than any number there.
            guard place.x.isFinite, place.y.isFinite else { return nil }
            bounds.extend(to: place)
        }
        let wanted = ImageLevel(image.pixels, shift: shift, bounds)
        if let last, last.contains(wanted) {
            (level, averagedPixels) = (last, 0)
        } else {
            level = wanted.averaged()
            averagedPixels = level.averagedPixels
            last = averagedPixels > 0 ? level : nil
        }
    }

    /// Calls with pixel after pixel of a row of the canvas, premultiplied: red, green, blue, alpha.
    @inline(__always)
    func forEachPixel(
        _ columns: Range<Int>, y: Int, where isWanted: (Int) -> Bool, _ body: (Int, SIMD4<UInt32>) -> Void
    ) {
        level.withSquares { squares in
            let count = UInt32(taps)
            for x in columns where isWanted(x) {
                var sum = SIMD4<UInt32>.zero
                for tapDown in 0..<tapsDown {
                    let placeY = Double(y) + (Double(tapDown) + 0.5) / Double(tapsDown)
                    for tapAcross in 0..<tapsAcross {
                        let placeX = Double(x) + (Double(tapAcross) + 0.5) / Double(tapsAcross)
                        sum &+= squares.interpolated(across * placeX + down * placeY + corner)
                    }
                }
                // Weights of 2^16 a place.
                let half = count << 15
                if count & (count &- 1) == 0 {
                    let bits = UInt32(16 &+ count.trailingZeroBitCount)
                    body(x, (sum &+ half) &>> bits)
                } else {
                    let whole = count << 16
                    body(x, (sum &+ half) / whole)
                }
            }
        }
    }
}

/// The means of an image over squares of pixels, as far as they are needed.
struct ImageLevel: Sendable {
    private let pixels: ImagePixels
    private let shift: Int
    /// The squares that are here; all others are not asked for.
    private let columns, rows: ClosedRange<Int>
    /// The means of the squares, row by row; of squares of one pixel those of the image are taken.
    private var means: [UInt32] = []

    /// A level whose means are not there yet.
    ///
    /// - Parameter bounds: the places that will be asked for, in squares.
    fileprivate init(_ pixels: ImagePixels, shift: Int, _ bounds: Box) {
        self.pixels = pixels
        self.shift = shift
        func range(_ low: Double, _ high: Double, _ size: Int) -> ClosedRange<Int> {
            let last = (size - 1) >> shift
            func limited(_ value: Double) -> Int { Int(min(max(value, 0), Double(last))) }
            // One for rounding, and one for the neighbours of the first and last.
            return limited(low - 2)...limited(high + 2)
        }
        columns = range(bounds.lower.x, bounds.upper.x, pixels.width)
        rows = range(bounds.lower.y, bounds.upper.y, pixels.height)
    }

    fileprivate func averaged() -> ImageLevel {
        guard shift > 0 else { return self }
        var level = self
        level.means.reserveCapacity(columns.count * rows.count)
        pixels.bytes.withUnsafeBytes { bytes in
            for row in rows { for column in columns { level.means.append(mean(bytes, column, row)) } }
        }
        return level
    }

    /// Whether the squares of another level are here, of the very same pixels in memory.
    fileprivate func contains(_ other: ImageLevel) -> Bool {
        func place(_ level: ImageLevel) -> UnsafeRawPointer? { level.pixels.bytes.withUnsafeBytes { $0.baseAddress } }
        return shift == other.shift && pixels.width == other.pixels.width && place(self) == place(other)
            && columns.contains(other.columns) && rows.contains(other.rows)
    }

    fileprivate var averagedPixels: Int { means.count << (2 * shift) }

    private func mean(_ bytes: UnsafeRawBufferPointer, _ column: Int, _ row: Int) -> UInt32 {
        let (left, top) = (column << shift, row << shift)
        let (right, bottom) = (min(left + 1 << shift, pixels.width), min(top + 1 << shift, pixels.height))
        var sum = SIMD4<UInt64>.zero
        for y in top..<bottom {
            var ofRow = SIMD4<UInt32>.zero
            for x in left..<right {
                let pixel = bytes.loadUnaligned(fromByteOffset: (y &* pixels.width &+ x) &* 4, as: SIMD4<UInt8>.self)
                ofRow &+= SIMD4<UInt32>(truncatingIfNeeded: pixel)
            }
            sum &+= SIMD4<UInt64>(truncatingIfNeeded: ofRow)
        }
        let count = UInt64((right - left) * (bottom - top))
        let mean = (sum &+ count / 2) / count
        return UInt32(mean.x) | UInt32(mean.y) << 8 | UInt32(mean.z) << 16 | UInt32(mean.w) << 24
    }

    @inline(__always)
    fileprivate func withSquares(_ body: (Squares) -> Void) {
        func lend(_ bytes: UnsafeRawBufferPointer, stride: Int, first: Int) {
            guard let base = bytes.baseAddress else { return }
            body(Squares(pixels: base - first * 4, stride: stride, columns: columns, rows: rows))
        }
        if shift == 0 {
            pixels.bytes.withUnsafeBytes { lend($0, stride: pixels.width, first: 0) }
        } else {
            means.withUnsafeBytes {
                lend($0, stride: columns.count, first: rows.lowerBound * columns.count + columns.lowerBound)
            }
        }
    }

    fileprivate struct Squares {
        let pixels: UnsafeRawPointer
        let stride: Int
        let columns, rows: ClosedRange<Int>

        /// The colour at a place, times 2^16.
        @inline(__always)
        func interpolated(_ place: Point) -> SIMD4<UInt32> {
            // Centres of squares lie at a half. Places beyond the squares are those of their border.
            func parts(_ value: Double, _ range: ClosedRange<Int>) -> (Int, Int, UInt32) {
                let limited = Swift.min(
                    Swift.max(value - 0.5, Double(range.lowerBound)), Double(range.upperBound))
                let scaled = Int((limited * 256 + 0.5).rounded(.down))
                let low = scaled >> 8
                return (low, Swift.min(low &+ 1, range.upperBound), UInt32(truncatingIfNeeded: scaled & 255))
            }
            let (left, right, x) = parts(place.x, columns)
            let (top, bottom, y) = parts(place.y, rows)
            let upper = square(left, top) &* (256 &- x) &+ square(right, top) &* x
            let lower = square(left, bottom) &* (256 &- x) &+ square(right, bottom) &* x
            return upper &* (256 &- y) &+ lower &* y
        }

        @inline(__always)
        private func square(_ column: Int, _ row: Int) -> SIMD4<UInt32> {
            let bytes = pixels.loadUnaligned(
                fromByteOffset: (row &* stride &+ column) &* 4, as: SIMD4<UInt8>.self)
            return SIMD4<UInt32>(truncatingIfNeeded: bytes)
        }
    }
}

extension Canvas {
    /// Composites an image through a mask, and wipes the mask. The box of the mask begins at the left border of a tile. Tiles
    /// that are not in `part`, if one is given, stay as they are.
    mutating func composite(_ image: ImageSampler, rows: CoverageRows, box: PixelBox, within part: TileSet?) {
        for tileY in box.tileRows {
            let lines = max(box.minY, tileY * Tile.side)..<min(box.maxY, (tileY + 1) * Tile.side)
            for tileX in box.tileColumns {
                let index = tileY * self.columns + tileX
                guard part?.contains(index) ?? true else { continue }
                let first = tileX * Tile.side
                let columns = first..<min(first + Tile.side, box.maxX)
                let isCovered = lines.contains { y in
                    let row = rows.row(y - box.minY) - box.minX
                    return rows.dirty[y - box.minY] != 0 && columns.contains { row[$0] != 0 }
                }
                guard isCovered else { continue }
                tiles[index].withPixels { pixels in
                    for y in lines where rows.dirty[y - box.minY] != 0 {
                        let mask = rows.row(y - box.minY) - box.minX
                        let line = pixels + (y % Tile.side) * Tile.side - first
                        image.forEachPixel(columns, y: y, where: { mask[$0] != 0 }) { x, colour in
                            line[x] = Self.over(line[x], colour, coverage: UInt32(mask[x]))
                        }
                    }
                }
            }
        }
        rows.wipe()
    }

    /// A premultiplied colour over a pixel, of which it covers a part of 0 … 255.
    @inline(__always)
    private static func over(_ below: UInt32, _ colour: SIMD4<UInt32>, coverage: UInt32) -> UInt32 {
        let paint: SIMD4<UInt32>
        if coverage == 255, colour.w == 255 {
            paint = colour
        } else {
            let old = SIMD4(below & 255, below >> 8 & 255, below >> 16 & 255, below >> 24)
            let whole: UInt32 = 255 * 255
            let rest = whole &- colour.w &* coverage
            paint = (colour &* (coverage &* 255) &+ old &* rest &+ whole / 2) / whole
        }
        return paint.x | paint.y << 8 | paint.z << 16 | paint.w << 24
    }
}
