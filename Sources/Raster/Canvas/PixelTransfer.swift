/// A rectangle of whole pixels on a canvas.
public struct PixelRectangle: Sendable, Equatable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

extension Canvas {
    /// The rows of tiles in which this picture may differ from another one of its size, each as a rectangle around what
    /// differs there; all that is painted where the other has another size. Compares which tiles both share, not pixels.
    ///
    /// - Parameter other: the picture to compare with; nil for a transparent one.
    public func differences(from other: Canvas?) -> [PixelRectangle] {
        let other = other.flatMap { $0.width == width && $0.height == height ? $0 : nil }
        var boxes: [PixelRectangle] = []
        for row in 0..<tiles.count / columns {
            var (first, last) = (columns, -1)
            for column in 0..<columns {
                let place = row * columns + column
                let mine = tiles[place]
                let isSame =
                    other.map { mine.isAbsent ? $0.tiles[place].isAbsent : mine.identity == $0.tiles[place].identity }
                    ?? mine.isAbsent
                guard !isSame else { continue }
                first = min(first, column)
                last = column
            }
            guard last >= first else { continue }
            let (left, top) = (first * Tile.side, row * Tile.side)
            boxes.append(
                PixelRectangle(
                    x: left, y: top, width: min((last + 1) * Tile.side, width) - left,
                    height: min(top + Tile.side, height) - top))
        }
        return boxes
    }

    /// Rectangles that cover the whole picture, a row of tiles each.
    public var rowsOfTiles: [PixelRectangle] {
        stride(from: 0, to: height, by: Tile.side).map {
            PixelRectangle(x: 0, y: $0, width: width, height: min(Tile.side, height - $0))
        }
    }

    /// A rectangle of the picture as one of its own.
    ///
    /// - Parameter box: lies on the canvas.
    package func cropped(to box: PixelRectangle) -> Canvas {
        var part = Canvas(width: box.width, height: box.height)
        for place in part.tiles.indices {
            let (left, top) = (place % part.columns * Tile.side, place / part.columns * Tile.side)
            let (right, bottom) = (min(left + Tile.side, box.width), min(top + Tile.side, box.height))
            // Of tiles that lie otherwise up to four meet here.
            for row in (box.y + top) / Tile.side...(box.y + bottom - 1) / Tile.side {
                for column in (box.x + left) / Tile.side...(box.x + right - 1) / Tile.side {
                    let source = tiles[row * columns + column]
                    if source.isAbsent { continue }
                    let x = max(box.x + left, column * Tile.side)..<min(box.x + right, (column + 1) * Tile.side)
                    let y = max(box.y + top, row * Tile.side)..<min(box.y + bottom, (row + 1) * Tile.side)
                    part.tiles[place].withPixels { pixels in
                        for line in y {
                            let from = (line - row * Tile.side) * Tile.side - column * Tile.side
                            let to = (line - box.y - top) * Tile.side - box.x - left
                            for x in x { pixels[to + x] = source.pixels[from + x] }
                        }
                    }
                }
            }
        }
        return part
    }

    /// Copies a rectangle with straight alpha, as browsers take it: rows from the top, each pixel `0xAABBGGRR`.
    ///
    /// - Parameters:
    ///   - box: lies on the canvas.
    ///   - paper: what lies under the picture, of its size; nil for nothing.
    ///   - pixels: replaced; the capacity is kept.
    public func copyStraight(_ box: PixelRectangle, over paper: Canvas? = nil, to pixels: inout [UInt32]) {
        let paper = paper.flatMap { $0.width == width && $0.height == height ? $0 : nil }
        pixels.removeAll(keepingCapacity: true)
        pixels.reserveCapacity(box.width * box.height)
        for y in box.y..<box.y + box.height {
            var x = box.x
            while x < box.x + box.width {
                let end = min((x / Tile.side + 1) * Tile.side, box.x + box.width)
                let place = y / Tile.side * columns + x / Tile.side
                let start = (y % Tile.side) * Tile.side - x / Tile.side * Tile.side
                let (tile, below) = (tiles[place], paper?.tiles[place] ?? .absent)
                switch (tile.isAbsent, below.isAbsent) {
                case (true, true): pixels.append(contentsOf: repeatElement(0, count: end - x))
                case (true, false):
                    for place in start + x..<start + end { pixels.append(straightAlpha(below.pixels[place])) }
                case (false, true):
                    for place in start + x..<start + end { pixels.append(straightAlpha(tile.pixels[place])) }
                case (false, false):
                    for place in start + x..<start + end {
                        pixels.append(straightAlpha(composited(tile.pixels[place], over: below.pixels[place])))
                    }
                }
                x = end
            }
        }
    }
}

/// The pixel with straight alpha of a premultiplied one, both as `0xAABBGGRR`; each channel rounded to nearest.
@inline(__always)
package func straightAlpha(_ pixel: UInt32) -> UInt32 {
    let alpha = pixel >> 24
    guard alpha != 255, alpha != 0 else { return pixel }
    let half = alpha / 2
    let red = ((pixel & 255) &* 255 &+ half) / alpha
    let green = ((pixel >> 8 & 255) &* 255 &+ half) / alpha
    let blue = ((pixel >> 16 & 255) &* 255 &+ half) / alpha
    return red | green << 8 | blue << 16 | alpha << 24
}

extension ImagePixels {
    /// The image of pixels with straight alpha: rows from the top, four bytes each. `nil` as ``init(width:height:bytes:)``.
    public init?(width: Int, height: Int, straight bytes: [UInt8]) {
        var bytes = bytes
        for place in stride(from: 0, to: bytes.count - 3, by: 4) where bytes[place + 3] != 255 {
            let alpha = Int(bytes[place + 3])
            for channel in place..<place + 3 { bytes[channel] = UInt8((Int(bytes[channel]) * alpha + 127) / 255) }
        }
        self.init(width: width, height: height, bytes: bytes)
    }
}
