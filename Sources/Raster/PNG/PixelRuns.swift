/// The rows of a canvas as runs of equal pixels.
struct PixelRuns {
    private let canvas: Canvas

    init(_ canvas: Canvas) {
        self.canvas = canvas
    }

    /// Goes through row `y` from the left; the pixels are premultiplied. No two runs side by side are equal.
    @inline(__always)
    func forEachRun(_ y: Int, _ body: (_ pixel: UInt32, _ count: Int) -> Void) {
        let first = (y / Tile.side) * canvas.columns
        let offset = (y % Tile.side) * Tile.side
        var current: UInt32 = 0
        var length = 0
        for column in 0..<canvas.columns {
            let count = min(Tile.side, canvas.width - column * Tile.side)
            canvas.tiles[first + column].pixels.withUnsafeBytes { pixels in
                guard !pixels.isEmpty else {
                    if current != 0 {
                        if length > 0 { body(current, length) }
                        (current, length) = (0, 0)
                    }
                    length &+= count
                    return
                }
                let row = UnsafeRawBufferPointer(rebasing: pixels[(offset * 4)..<((offset + count) * 4)])
                var x = 0
                while x < count {
                    let end = min(x &+ 8, count)
                    if end &- x == 8, Self.areEight(current, row, x) {
                        length &+= 8
                        x = end
                        continue
                    }
                    while x < end {
                        let pixel = row.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
                        if pixel != current {
                            if length > 0 { body(current, length) }
                            (current, length) = (pixel, 0)
                        }
                        length &+= 1
                        x &+= 1
                    }
                }
            }
        }
        body(current, length)
    }

    /// Whether the eight pixels from `x` on are all the same one: ink and paper are passed over by steps.
    @inline(__always)
    private static func areEight(_ pixel: UInt32, _ row: UnsafeRawBufferPointer, _ x: Int) -> Bool {
        let two = UInt64(pixel) &* 0x1_0000_0001
        var difference: UInt64 = 0
        for pair in 0..<4 {
            difference |= row.loadUnaligned(fromByteOffset: (x &+ 2 &* pair) &* 4, as: UInt64.self) ^ two
        }
        return difference == 0
    }
}
