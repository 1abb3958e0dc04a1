public import PathGeometry

/// An area with its colour: ink that was cut or moved.
public struct PaintedArea: Sendable, Equatable {
    /// What is filled, by the nonzero rule, in board units. Open contours are closed by lines; contours with coordinates
    /// that are not finite, or greater than 1e12, are left out.
    public var path: Path
    /// The colour.
    public var colour: RGB
    /// 0 … 1; beyond that it is the nearer one of both, and 0 if it is not a number.
    public var opacity: Double

    /// Makes an area with a colour.
    public init(path: Path, colour: RGB, opacity: Double = 1) {
        self.path = path
        self.colour = colour
        self.opacity = opacity
    }
}

extension StrokePainter {
    /// Fills an area on some of the tiles only; see ``draw(_:on:within:while:)-1t9ko``. It is composited once: it never darkens
    /// itself where its contours overlap.
    mutating func fill(
        _ area: PaintedArea, on canvas: inout Canvas, within part: TileSet?, while isWanted: () -> Bool
    ) -> PixelBox? {
        visitedPixels = 0
        let box = PixelBox(around: area.path.controlBounds, scale: scale, on: canvas)
        let opacity = area.opacity > 0 ? Int((min(area.opacity, 1) * 255).rounded()) : 0
        guard !box.isEmpty, opacity > 0, part?.touches(box) ?? true else { return box }
        return mask.withRows(width: box.width, height: box.height) { rows in
            let isCovered = areas.cover(
                rows, with: area.path, scale: scale, box: box, &accumulation, while: isWanted)
            visitedPixels = areas.visited
            guard isCovered else { return nil }
            if opacity < 255 { rows.multiply(by: opacity) }
            canvas.composite(area.colour.pixel, rows: rows, box: box, within: part, kernels: kernels)
            return box
        }
    }
}

extension CoverageRows {
    /// Multiplies all coverages by an opacity of 0 … 255.
    fileprivate func multiply(by opacity: Int) {
        for y in 0..<height {
            let row = row(y)
            forEachDirtyRange(y) { columns in
                for x in columns { row[x] = UInt8(truncatingIfNeeded: (Int(row[x]) &* opacity &+ 127) / 255) }
            }
        }
    }
}

extension PixelBox {
    /// The pixels that a box of the board touches, from the left border of a tile on; empty where there are none.
    init(around bounds: Box, scale: Double, on canvas: Canvas) {
        self.init(minX: 0, minY: 0, maxX: 0, maxY: 0)
        guard !bounds.isEmpty else { return }
        self = PixelBox(from: bounds.lower * scale, to: (bounds.upper * scale).rounded(.up), on: canvas).fromTile
    }
}
