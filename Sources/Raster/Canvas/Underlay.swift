extension Canvas {
    /// This picture over another one of the same size. Tiles in which either is transparent are shared.
    public func over(_ paper: Canvas) -> Canvas {
        guard paper.tiles.count == tiles.count, paper.columns == columns else { return self }
        var canvas = self
        for place in tiles.indices where !paper.tiles[place].isAbsent {
            if tiles[place].isAbsent {
                canvas.tiles[place] = paper.tiles[place]
                continue
            }
            let below = paper.tiles[place].pixels
            canvas.tiles[place].withPixels { pixels in
                for pixel in below.indices { pixels[pixel] = composited(pixels[pixel], over: below[pixel]) }
            }
        }
        return canvas
    }

    /// Draws lines along rows and columns of pixels, or dots where they cross, twice as wide.
    ///
    /// - Parameters:
    ///   - rows: on the canvas, the first one of each line across.
    ///   - columns: on the canvas, the first one of each line down.
    ///   - width: of a line in pixels.
    public mutating func rule(rows: [Int], columns: [Int], isDotted: Bool, width: Int, colour: RGB) {
        let pixel = colour.pixel
        if isDotted {
            for y in rows {
                for x in columns { fill(x..<x + 2 * width, y..<y + 2 * width, pixel) }
            }
        } else {
            for y in rows { fill(0..<self.width, y..<y + width, pixel) }
            for x in columns { fill(x..<x + width, 0..<height, pixel) }
        }
    }

    /// What lies beyond the canvas is left out.
    private mutating func fill(_ x: Range<Int>, _ y: Range<Int>, _ pixel: UInt32) {
        let (x, y) = (x.clamped(to: 0..<width), y.clamped(to: 0..<height))
        guard !x.isEmpty, !y.isEmpty else { return }
        for row in y.lowerBound / Tile.side...(y.upperBound - 1) / Tile.side {
            for column in x.lowerBound / Tile.side...(x.upperBound - 1) / Tile.side {
                let (left, top) = (column * Tile.side, row * Tile.side)
                tiles[row * self.columns + column].withPixels { pixels in
                    for y in y.clamped(to: top..<top + Tile.side) {
                        for x in x.clamped(to: left..<left + Tile.side) {
                            pixels[(y - top) * Tile.side + x - left] = pixel
                        }
                    }
                }
            }
        }
    }
}

extension StrokePainter {
    /// Draws what a layer shows, on the tiles that a part of the canvas touches.
    public mutating func draw(_ content: LayerContent, on canvas: inout Canvas, within part: PixelRectangle) {
        var tiles = TileSet(of: canvas)
        tiles.insert(PixelBox(part, on: canvas))
        draw(content, on: &canvas, within: tiles) { true }
    }
}

/// A premultiplied pixel over another one, each channel rounded to nearest.
@inline(__always)
func composited(_ pixel: UInt32, over below: UInt32) -> UInt32 {
    let rest = 255 &- pixel >> 24
    guard rest > 0, below != 0 else { return pixel }
    // Two channels at a time; the division by 255 is exact for products of two bytes.
    var even = (below & 0x00FF_00FF) &* rest &+ 0x0080_0080
    var odd = (below >> 8 & 0x00FF_00FF) &* rest &+ 0x0080_0080
    even = (even &+ (even >> 8 & 0x00FF_00FF)) >> 8 & 0x00FF_00FF
    odd = (odd &+ (odd >> 8 & 0x00FF_00FF)) & 0xFF00_FF00
    return pixel &+ (even | odd)
}
