extension Canvas {
    /// Puts a colour on the canvas wherever the mask is covered, once; a source of 0 removes paint. Where a set of
    /// tiles is given, all others stay as they are.
    mutating func composite(_ source: UInt32, rows: CoverageRows, box: PixelBox, within part: TileSet?) {
        for tileY in box.minY / Tile.side...(box.maxY - 1) / Tile.side {
            let top = max(box.minY, tileY * Tile.side)
            let bottom = min(box.maxY, (tileY + 1) * Tile.side)
            var used = RowSpan.empty
            for y in top..<bottom {
                used.lower = min(used.lower, rows.spans[y - box.minY].lower)
                used.upper = max(used.upper, rows.spans[y - box.minY].upper)
            }
            guard !used.isEmpty else { continue }
            let first = (box.minX + Int(used.lower)) / Tile.side
            let last = (box.minX + Int(used.upper) - 1) / Tile.side
            for tileX in first...last {
                let index = tileY * columns + tileX
                if let part, !part.contains(index) { continue }
                let cut = PixelBox(
                    minX: tileX * Tile.side, minY: top, maxX: (tileX + 1) * Tile.side, maxY: bottom)
                composite(source, rows: rows, box: box, cut: cut, tile: &tiles[index])
            }
        }
    }

    /// Composites the part of the mask that falls into one tile.
    private func composite(
        _ source: UInt32, rows: CoverageRows, box: PixelBox, cut: PixelBox, tile: inout Tile
    ) {
        if tile.isAbsent && source == 0 { return }
        guard let firstRow = Self.firstCovered(rows, box: box, cut: cut) else { return }
        let blend = PixelBlend(source: source)
        tile.withPixels { pixels in
            for y in firstRow..<cut.maxY {
                let span = rows.spans[y - box.minY]
                let from = max(box.minX + Int(span.lower), cut.minX)
                let to = min(box.minX + Int(span.upper), cut.maxX)
                guard from < to else { continue }
                blend.blend(
                    over: pixels + ((y % Tile.side) * Tile.side + (from - cut.minX)),
                    mask: rows.row(y - box.minY) + (from - box.minX), count: to - from)
            }
        }
    }

    /// The first row of a part of the canvas with any coverage: tiles that a stroke only passes around stay absent.
    private static func firstCovered(_ rows: CoverageRows, box: PixelBox, cut: PixelBox) -> Int? {
        (cut.minY..<cut.maxY).first { y in
            let span = rows.spans[y - box.minY]
            let from = max(Int(span.lower), cut.minX - box.minX)
            let to = min(Int(span.upper), cut.maxX - box.minX)
            guard from < to else { return false }
            let row = rows.row(y - box.minY)
            return (from..<to).contains { row[$0] != 0 }
        }
    }
}
