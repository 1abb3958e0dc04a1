/// The upper bounds of a histogram's buckets, ascending; a value that equals a bound is in that bucket.
struct HistogramBounds {
    let upper: [Double]

    /// Seconds from 0.5 ms to 1 minute, in small steps from 1 to 20 ms, where the aim for lateness (p99 ≤ 10 ms) lies.
    static let seconds = HistogramBounds(upper: [
        0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.01, 0.0125, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10, 30, 60,
    ])

    /// Sizes and numbers of things: the powers of four from 1 to 64 Mi.
    static let counts = HistogramBounds(upper: (0...13).map { Double(1 << (2 * $0)) })

    /// The bounds for what is recorded under that name: seconds when it ends in `_seconds`.
    init(forMetric name: String) {
        self = name.hasSuffix("_seconds") ? .seconds : .counts
    }

    private init(upper: [Double]) {
        self.upper = upper
    }

    /// The number of the bucket, from 0; `upper.count` for a value beyond the last bound.
    func bucket(of value: Double) -> Int {
        var low = 0
        var high = upper.count
        while low < high {
            let middle = (low + high) / 2
            if upper[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
