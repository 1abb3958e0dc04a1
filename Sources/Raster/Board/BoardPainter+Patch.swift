extension BoardPainter {
    /// Paints the tiles again that strokes touch which came or went since the last picture, where that is less work
    /// than drawing every stroke above the `known` lowest ones; `base` is the picture of those.
    mutating func patch<Failure: Error>(
        _ layers: [BoardLayer], base: Canvas, known: Int, with painter: inout StrokePainter,
        stroke: (Int) throws(Failure) -> PaintedStroke
    ) throws(Failure) -> Canvas? {
        guard let changed = changedTiles(layers) else { return nil }
        // Strokes from the first change on are drawn again even where the kept beginning is longer than that.
        let touching = (known..<layers.count).filter { index in
            boxes[layers[index].id].map(changed.touches) ?? true
        }
        guard touching.count < layers.count - known else { return nil }
        var canvas = picture
        for index in changed.indices { canvas.tiles[index] = base.tiles[index] }
        for index in touching {
            boxes[layers[index].id] = painter.draw(try stroke(index), on: &canvas, within: changed)
            strokesDrawn += 1
        }
        return canvas
    }

    /// The tiles on which the layers differ from the last picture: those of the strokes that are in one of the lists
    /// only. `nil` where that is not known, because a stroke was never drawn here or the order has changed.
    private func changedTiles(_ layers: [BoardLayer]) -> TileSet? {
        let before = Set(shown)
        let now = Set(layers.lazy.map(\.id))
        guard shown.filter(now.contains) == layers.map(\.id).filter(before.contains) else { return nil }
        var tiles = TileSet(of: picture)
        for id in before.symmetricDifference(now) {
            guard let box = boxes[id] else { return nil }
            tiles.insert(box)
        }
        return tiles
    }
}
