/// Takes the points of a message while they are read.
protocol PointSink {
    /// Another array of points begins, of which there are no more than so many: those before do not count.
    mutating func begin(atMost count: Int)
    mutating func add(_ point: StrokePoint)
}

/// For a message whose points stay where they are.
struct NoPoints: PointSink {
    @inline(__always) func begin(atMost count: Int) {}
    @inline(__always) func add(_ point: StrokePoint) {}
}

extension [StrokePoint]: PointSink {
    @inline(__always)
    mutating func begin(atMost count: Int) {
        removeAll(keepingCapacity: true)
        reserveCapacity(count)
    }

    @inline(__always)
    mutating func add(_ point: StrokePoint) { append(point) }
}
