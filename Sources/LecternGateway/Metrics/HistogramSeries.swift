internal import Metrics
internal import StrokeWire

/// A histogram with fixed buckets.
///
/// A value costs a binary search and two atomic additions. The count is the sum of the buckets at the scrape, so it
/// always equals the last bucket; the sum may differ by values that are recorded during the scrape.
final class HistogramSeries: RecorderHandler, TimerHandler, MetricSeries {
    static let type = MetricType.histogram
    static let reservedLabel: String? = "le"

    private let bounds: HistogramBounds
    /// One for each bound, and one for values above the last.
    private let buckets: [CounterSeries]
    private let sum = AtomicDouble(0)

    init(_ bounds: HistogramBounds) {
        self.bounds = bounds
        buckets = (0...bounds.upper.count).map { _ in CounterSeries() }
    }

    func record(_ value: Int64) { record(Double(value)) }

    /// Counts a value; ignores NaN and infinities, which would spoil the sum for good.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.bucket(of: value)].increment(by: 1)
        sum.add(value)
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        var count: UInt64 = 0
        for (bound, bucket) in zip(bounds.upper + [.infinity], buckets) {
            count &+= bucket.value
            writer.write("\(name)_bucket", labels, bound: bound, String(count))
        }
        writer.write("\(name)_sum", labels, ExpositionWriter.number(sum.load()))
        writer.write("\(name)_count", labels, String(count))
    }
}

/// The upper bounds of a histogram's buckets, ascending and inclusive.
struct HistogramBounds {
    let upper: [Double]

    /// Seconds: 0.5 ms to 1 minute, with small steps from 1 to 20 ms, around the target for lateness (p99 ≤ 10 ms).
    static let seconds = HistogramBounds(upper: [
        0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.01, 0.0125, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5,
        1, 2.5, 5, 10, 30, 60,
    ])

    /// How far ink and picture are apart, in seconds: small steps from 5 ms to 1 s, where people begin to notice.
    static let skew = HistogramBounds(upper: [
        0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1,
        1.5, 2, 5, 10, 30, 60,
    ])

    /// Sizes and counts: the powers of four from 1 to 64 Mi.
    static let counts = HistogramBounds(upper: (0...13).map { Double(1 << (2 * $0)) })

    /// The bounds for a metric: those of skew, those of seconds when its name ends in `_seconds`, else those of counts.
    init(forMetric name: String) {
        self = name == GatewayMetrics.skew ? .skew : name.hasSuffix("_seconds") ? .seconds : .counts
    }

    private init(upper: [Double]) { self.upper = upper }

    /// The index of the bucket; `upper.count` for a value above the last bound.
    func bucket(of value: Double) -> Int { upper.partitioningIndex { $0 >= value } }
}
