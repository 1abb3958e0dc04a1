extension Canvas {
    /// Puts a colour on the canvas wherever the mask is covered, once, and wipes the mask; a source of 0 removes paint.
    /// The box of the mask begins at the left border of a tile. Where a set of tiles is given, all others stay as they are.
    mutating func composite(_ source: UInt32, rows: CoverageRows, box: PixelBox, within part: TileSet?) {
        let blend = PixelBlend(source: source)
        for tileY in box.minY / Tile.side...(box.maxY - 1) / Tile.side {
            let top = max(box.minY, tileY * Tile.side)
            let bottom = min(box.maxY, (tileY + 1) * Tile.side)
            var used: UInt64 = 0
            for y in top..<bottom { used |= rows.marks[y - box.minY] }
            for tileX in box.minX / Tile.side...(box.maxX - 1) / Tile.side {
                let columns = TileColumns(from: tileX * Tile.side - box.minX, blocks: rows.blocks)
                let index = tileY * self.columns + tileX
                guard columns.marks(used) != 0, part?.contains(index) ?? true else { continue }
                // Tiles that a stroke only passes around stay as they are, and those without paint stay absent.
                guard !tiles[index].isAbsent || source != 0,
                    columns.areCovered(rows, top - box.minY..<bottom - box.minY)
                else { continue }
                tiles[index].withPixels { pixels in
                    columns.composite(
                        blend, over: pixels + (top % Tile.side) * Tile.side, rows: rows,
                        top - box.minY..<bottom - box.minY)
                }
            }
        }
        rows.wipe()
    }
}

/// The columns of a mask that fall into one tile.
private struct TileColumns {
    let first: Int
    let firstBlock: UInt64
    let mask: UInt64
    /// How many columns of the tile belong to a block.
    let step: Int
    /// Whether no block goes on in the next tile.
    let isAlone: Bool

    init(from first: Int, blocks: RowBlocks) {
        self.first = first
        firstBlock = UInt64(first >> blocks.shift)
        let count = max(Tile.side >> blocks.shift, 1)
        mask = (1 << UInt64(count)) - 1
        step = min(blocks.columns, Tile.side)
        isAlone = blocks.columns <= Tile.side
    }

    /// The bits of a row that are those of these columns.
    @inline(__always)
    func marks(_ bits: UInt64) -> UInt64 { (bits &>> firstBlock) & mask }

    /// Whether any pixel is covered.
    func areCovered(_ rows: CoverageRows, _ range: Range<Int>) -> Bool {
        range.contains { y in
            let mask = UnsafeRawPointer(rows.row(y) + first)
            var bits = marks(rows.marks[y])
            while bits != 0 {
                let x = bits.trailingZeroBitCount &* step
                bits &= bits &- 1
                for x in Swift.stride(from: x, to: x &+ step, by: 4)
                where mask.loadUnaligned(fromByteOffset: x, as: UInt32.self) != 0 { return true }
            }
            return false
        }
    }

    /// Composites some rows, and wipes of them what is in this tile.
    @inline(__always)
    func composite(
        _ blend: PixelBlend, over pixels: UnsafeMutablePointer<UInt32>, rows: CoverageRows, _ range: Range<Int>
    ) {
        var pixels = UnsafeMutableRawPointer(pixels)
        var row = UnsafeMutableRawPointer(rows.row(range.lowerBound) + first)
        for y in range {
            var bits = marks(rows.marks[y])
            if isAlone { rows.marks[y] &= ~(mask &<< firstBlock) }
            while bits != 0 {
                let span = RowBlocks.takeSpan(of: &bits)
                var x = span.lowerBound &* step
                let end = span.upperBound &* step
                repeat {
                    let covered = row.loadUnaligned(fromByteOffset: x, as: SIMD4<UInt8>.self)
                    blend.blend(over: pixels + x &* 4, mask: covered)
                    row.storeBytes(of: 0, toByteOffset: x, as: UInt32.self)
                    x &+= 4
                } while x < end
            }
            pixels += Tile.side &* 4
            row += rows.stride
        }
    }
}
