/// The rows of a canvas as the image shows them, top to bottom.
struct CanvasRows {
    private let canvas: Canvas
    private let background: PNGBackground

    init(_ canvas: Canvas, background: PNGBackground) {
        self.canvas = canvas
        self.background = background
    }

    /// Writes the premultiplied pixels of row `y`, `canvas.width` of them.
    func copyRow(_ y: Int, to row: UnsafeMutablePointer<UInt32>) {
        forEachTile(y) { x, count, pixels in
            if let pixels {
                (row + x).update(from: pixels, count: count)
            } else {
                (row + x).update(repeating: 0, count: count)
            }
        }
    }

    /// Writes the pixels of row `y` over the background.
    func showRow(_ y: Int, to row: UnsafeMutablePointer<UInt32>) {
        let blank = background.shown(0)
        forEachTile(y) { x, count, pixels in
            if let pixels {
                for column in 0..<count { row[x &+ column] = background.shown(pixels[column]) }
            } else {
                (row + x).update(repeating: blank, count: count)
            }
        }
    }

    private func forEachTile(_ y: Int, _ body: (_ x: Int, _ count: Int, _ pixels: UnsafePointer<UInt32>?) -> Void) {
        let first = (y / Tile.side) * canvas.columns
        let offset = (y % Tile.side) * Tile.side
        for column in 0..<canvas.columns {
            let x = column * Tile.side
            let count = min(Tile.side, canvas.width - x)
            let tile = canvas.tiles[first + column]
            tile.pixels.withUnsafeBufferPointer { pixels in
                body(x, count, pixels.baseAddress.flatMap { tile.isAbsent ? nil : $0 + offset })
            }
        }
    }
}
