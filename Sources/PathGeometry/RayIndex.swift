/// Counts windings by rays along an axis over curves in bands across it, so that a ray looks only at its band.
struct RayIndex {
    /// The coordinate that is the same along a ray: 1 for rays to +x, 0 for rays to +y.
    private let axis: Int
    private var origin = 0.0
    private var perUnit = 0.0
    private var bandCount = 1
    /// The curves of band b are `entries[starts[b]..<starts[b + 1]]`.
    private var starts: [Int32] = [0, 0]
    private var entries: [Int32] = []

    /// O(n): at most 8 entries a curve, on average.
    init(_ boxes: [Box], axis: Int) {
        self.axis = axis
        let whole = boxes.reduce(Box.empty) { $0.union($1) }
        guard !whole.isEmpty else { return }
        origin = whole.lower[axis]
        let length = whole.upper[axis] - origin
        bandCount = min(boxes.count, 4096)
        // Of boxes of hardly any length there is no number of bands a unit.
        if !(Double(bandCount) / length).isFinite { bandCount = 1 }
        while true {
            perUnit = bandCount > 1 ? Double(bandCount) / length : 0
            let total = boxes.reduce(0) { $0 + bands(of: $1).count }
            if bandCount == 1 || total <= 8 * boxes.count + 64 { break }
            bandCount /= 2
        }
        starts = [Int32](repeating: 0, count: bandCount + 1)
        for box in boxes { for band in bands(of: box) { starts[band + 1] += 1 } }
        for band in 0..<bandCount { starts[band + 1] += starts[band] }
        entries = [Int32](repeating: 0, count: Int(starts[bandCount]))
        var next = starts
        for (index, box) in boxes.enumerated() {
            for band in bands(of: box) {
                entries[Int(next[band])] = Int32(index)
                next[band] += 1
            }
        }
    }

    private func band(_ value: Double) -> Int {
        // What is infinite, times 0, is not a number.
        bandCount == 1 ? 0 : Int(min(max((value - origin) * perUnit, 0), Double(bandCount - 1)))
    }

    private func bands(of box: Box) -> ClosedRange<Int> {
        let low = band(box.lower[axis])
        return low...max(low, band(box.upper[axis]))
    }

    /// The indices of the curves whose band a place lies in.
    @inline(__always)
    func candidates(at place: Point) -> ArraySlice<Int32> {
        let band = band(place[axis])
        return entries[Int(starts[band])..<Int(starts[band + 1])]
    }

    /// Calls with the index of each curve whose box touches a box; once for each curve.
    ///
    /// - Returns: how many bands and curves were looked at.
    @inline(__always)
    func forEachCandidate(in box: Box, _ boxes: [Box], _ body: (Int) -> Void) -> Int {
        let range = bands(of: box)
        var compared = range.count
        for band in range {
            compared += Int(starts[band + 1] - starts[band])
            for entry in entries[Int(starts[band])..<Int(starts[band + 1])] {
                guard boxes[Int(entry)].intersects(box) else { continue }
                // In the first band that both touch.
                if max(bands(of: boxes[Int(entry)]).lowerBound, range.lowerBound) == band { body(Int(entry)) }
            }
        }
        return compared
    }
}
