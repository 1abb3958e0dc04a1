internal import CLanes

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
                let x = column * Tile.side
                let count = min(Tile.side, canvas.width - x)
                canvas.tiles[first + column].pixels.withUnsafeBufferPointer { pixels in
                    // Nothing was painted on an empty tile.
                    guard !pixels.isEmpty, let tile = pixels.baseAddress else { return writer.add(0, at: x) }
                    writer.add(tile + offset, count: count, at: x)
                }
            }
            writer.end(at: canvas.width)
            body(UnsafeBufferPointer(start: base, count: writer.place - base))
        }
    }

    /// Writes the runs of a row to memory.
    private struct Writer {
        /// Where the current run will stand.
        private(set) var place: UnsafeMutablePointer<PixelRun>
        private var pixel: UInt32 = 0
        /// Where the current run begins.
        private var start = 0

        init(place: UnsafeMutablePointer<PixelRun>) { self.place = place }

        /// Begins with pixels that are all equal.
        @inline(__always)
        mutating func add(_ pixel: UInt32, at x: Int) {
            guard pixel != self.pixel else { return }
            end(at: x)
            self.pixel = pixel
        }

        /// Adds the pixels of a row of a tile, at most as many as it has.
        @inline(__always)
        mutating func add(_ row: UnsafePointer<UInt32>, count: Int, at x: Int) {
            var changes = lanes_changes(row, pixel)
            if count < Tile.side { changes &= 1 &<< UInt64(truncatingIfNeeded: count) &- 1 }
            while changes != 0 {
                let column = changes.trailingZeroBitCount
                end(at: x &+ column)
                pixel = row[column]
                changes &= changes &- 1
            }
        }

        /// Ends the current run.
        @inline(__always)
        mutating func end(at x: Int) {
            guard x > start else { return }
            place.pointee = PixelRun(pixel: pixel, count: UInt32(truncatingIfNeeded: x &- start))
            place += 1
            start = x
        }
    }
}
