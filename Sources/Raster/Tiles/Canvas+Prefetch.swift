internal import CLanes
internal import Ink

extension Canvas {
    /// Has the pixels around the samples of a centre line fetched: a canvas is larger than the caches, and they are
    /// there by the time the coverage of the stroke is known. Only costs time where a guess is wrong.
    func prefetch(around samples: [CentreSample]) {
        let rowBytes = Tile.side * MemoryLayout<UInt32>.stride
        var lastTile = -1
        var pixels: UnsafeRawPointer?
        for sample in samples {
            guard sample.x >= 0, sample.y >= 0, sample.x < Float(width), sample.y < Float(height) else { continue }
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
