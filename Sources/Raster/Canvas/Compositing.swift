internal import CLanes
internal import Ink

extension Canvas {
    /// Composites a colour through a mask, and wipes the mask; a source of 0 removes paint. The box of the mask begins at
    /// the left border of a tile. Tiles that are not in `part`, if one is given, stay as they are.
    mutating func composite(
        _ source: UInt32, rows: CoverageRows, box: PixelBox, within part: TileSet?, kernels: Kernels
    ) {
        for tileY in box.tileRows {
            let top = max(box.minY, tileY * Tile.side)
            let bottom = min(box.maxY, (tileY + 1) * Tile.side)
            var used: UInt64 = 0
            for y in top..<bottom { used |= rows.dirty[y - box.minY] }
            for tileX in box.tileColumns {
                let columns = TileColumns(from: tileX * Tile.side - box.minX, blocks: rows.blocks)
                let index = tileY * self.columns + tileX
                guard columns.bits(of: used) != 0, part?.contains(index) ?? true else { continue }
                // Tiles without covered pixels stay shared, and an eraser leaves absent ones absent.
                guard !tiles[index].isAbsent || source != 0,
                    columns.areCovered(rows, top - box.minY..<bottom - box.minY)
                else { continue }
                tiles[index].withPixels { pixels in
                    columns.composite(
                        source, over: pixels + (top % Tile.side) * Tile.side, rows: rows,
                        top - box.minY..<bottom - box.minY, kernels: kernels)
                }
            }
        }
        rows.wipe()
    }

    /// The distance in pixels of samples that are prefetched.
    private static let prefetchStep: Float = 4

    /// Prefetches the pixels around the samples of a centre line: a canvas is larger than the caches, and the pixels arrive
    /// while the stroke is rasterized. A wrong guess costs time alone.
    func prefetch(around samples: [CentreSample]) {
        let rowBytes = Tile.side * MemoryLayout<UInt32>.stride
        var lastTile = -1
        var last = SIMD2<Float>(repeating: -.infinity)
        var pixels: UnsafeRawPointer?
        for sample in samples {
            guard sample.x >= 0, sample.y >= 0, sample.x < Float(width), sample.y < Float(height) else { continue }
            // The rows of a sample that is nearer have been prefetched.
            let centre = SIMD2(sample.x, sample.y)
            guard abs(centre.x - last.x) + abs(centre.y - last.y) > Self.prefetchStep else { continue }
            last = centre
            let x = Int(truncatingIfNeeded: sample.x.cell)
            let y = Int(truncatingIfNeeded: sample.y.cell)
            let tile = (y / Tile.side) &* columns &+ x / Tile.side
            if tile != lastTile {
                lastTile = tile
                pixels = tiles[tile].pixels.withUnsafeBytes { $0.baseAddress }
            }
            guard let pixels else { continue }
            let reach = Int(truncatingIfNeeded: sample.radius.lowered(to: 6).cell) &+ 1
            let first = y % Tile.side &- reach
            var place = pixels + (first &* rowBytes &+ (x % Tile.side &- reach) &* MemoryLayout<UInt32>.stride)
            let across = 2 &* reach &* MemoryLayout<UInt32>.stride
            for _ in 0...2 &* reach {
                lanes_prefetch(place)
                lanes_prefetch(place + across)
                place += rowBytes
            }
        }
    }
}

/// The columns of a mask in one tile.
private struct TileColumns {
    let first: Int
    let firstBlock: UInt64
    let mask: UInt64
    let step: Int
    /// Whether no block extends into the next tile.
    let isAlone: Bool

    init(from first: Int, blocks: DirtyBlocks) {
        self.first = first
        firstBlock = UInt64(first >> blocks.shift)
        let count = max(Tile.side >> blocks.shift, 1)
        mask = (1 << UInt64(count)) - 1
        step = min(blocks.columns, Tile.side)
        isAlone = blocks.columns <= Tile.side
    }

    @inline(__always)
    func bits(of word: UInt64) -> UInt64 { (word &>> firstBlock) & mask }

    /// Whether any pixel is covered.
    func areCovered(_ rows: CoverageRows, _ range: Range<Int>) -> Bool {
        range.contains { y in
            let mask = UnsafeRawPointer(rows.row(y) + first)
            var bits = self.bits(of: rows.dirty[y])
            while bits != 0 {
                let x = bits.trailingZeroBitCount &* step
                bits &= bits &- 1
                for x in Swift.stride(from: x, to: x &+ step, by: 4)
                where mask.loadUnaligned(fromByteOffset: x, as: UInt32.self) != 0 { return true }
            }
            return false
        }
    }

    /// Composites the part of some rows in this tile, and wipes it.
    @inline(__always)
    func composite(
        _ source: UInt32, over pixels: UnsafeMutablePointer<UInt32>, rows: CoverageRows, _ range: Range<Int>,
        kernels: Kernels
    ) {
        var pixels = pixels
        var row = rows.row(range.lowerBound) + first
        for y in range {
            var bits = self.bits(of: rows.dirty[y])
            if isAlone { rows.dirty[y] &= ~(mask &<< firstBlock) }
            while bits != 0 {
                let dirtyRange = DirtyBlocks.takeRange(of: &bits)
                let x = dirtyRange.lowerBound &* step
                kernels.loops.blend(pixels + x, row + x, dirtyRange.upperBound &* step &- x, source)
            }
            pixels += Tile.side
            row += rows.stride
        }
    }
}
