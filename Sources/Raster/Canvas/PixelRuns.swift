/// Equal pixels side by side in a row of a canvas.
package struct PixelRun {
    /// The premultiplied pixel, `0xAABBGGRR`.
    package let pixel: UInt32
    /// The number of pixels, at least 1.
    package let count: UInt32
}

/// The rows of a canvas as runs of equal pixels, one row at a time.
///
/// Other modules get a whole row of runs in one call: a closure that is called for each run would not be inlined across
/// the border of the modules.
package struct PixelRuns {
    private let canvas: Canvas
    /// Room for a row in which no two pixels are equal.
    private var runs: [PixelRun]

    package init(_ canvas: Canvas) {
        self.canvas = canvas
        runs = [PixelRun](repeating: PixelRun(pixel: 0, count: 0), count: canvas.width)
    }

    /// Calls with the runs of row `y` from the left. No two neighbouring runs are equal.
    package mutating func withRow(_ y: Int, _ body: (UnsafeBufferPointer<PixelRun>) -> Void) {
        let canvas = canvas
        runs.withUnsafeMutableBufferPointer { runs in
            guard let base = runs.baseAddress else { return }
            var writer = Writer(place: base)
            let first = (y / Tile.side) * canvas.columns
            let offset = (y % Tile.side) * Tile.side
            for column in 0..<canvas.columns {
                let count = min(Tile.side, canvas.width - column * Tile.side)
                canvas.tiles[first + column].pixels.withUnsafeBytes { pixels in
                    // Nothing was painted on an empty tile.
                    guard !pixels.isEmpty, let tile = pixels.baseAddress else { return writer.add(0, count: count) }
                    writer.add(tile + offset * 4, count: count)
                }
            }
            writer.end()
            body(UnsafeBufferPointer(start: base, count: writer.place - base))
        }
    }

    /// Writes runs to memory.
    private struct Writer {
        /// Where the current run will stand.
        private(set) var place: UnsafeMutablePointer<PixelRun>
        private var pixel: UInt32 = 0
        private var length = 0

        init(place: UnsafeMutablePointer<PixelRun>) {
            self.place = place
        }

        /// Adds equal pixels.
        @inline(__always)
        mutating func add(_ pixel: UInt32, count: Int) {
            if pixel != self.pixel {
                end()
                self.pixel = pixel
            }
            length &+= count
        }

        /// Adds the pixels of a row of a tile.
        @inline(__always)
        mutating func add(_ row: UnsafeRawPointer, count: Int) {
            var x = 0
            while x < count {
                let end = min(x &+ 8, count)
                if end &- x == 8, areEight(row + x &* 4) {
                    length &+= 8
                } else {
                    for x in x..<end { add(row.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self), count: 1) }
                }
                x = end
            }
        }

        /// Ends the current run.
        @inline(__always)
        mutating func end() {
            guard length > 0 else { return }
            place.pointee = PixelRun(pixel: pixel, count: UInt32(truncatingIfNeeded: length))
            place += 1
            length = 0
        }

        /// Whether the next eight pixels are those of the current run: ink and paper are passed by eights.
        @inline(__always)
        private func areEight(_ pixels: UnsafeRawPointer) -> Bool {
            let two = UInt64(pixel) &* 0x1_0000_0001
            var difference: UInt64 = 0
            for pair in 0..<4 { difference |= pixels.loadUnaligned(fromByteOffset: pair &* 8, as: UInt64.self) ^ two }
            return difference == 0
        }
    }
}
