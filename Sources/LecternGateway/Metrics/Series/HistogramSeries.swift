internal import Metrics

/// How often values fell into each of a fixed row of buckets, and their sum.
///
/// A value costs a search in the bounds and two atomic additions. The count is that of all buckets at the moment of
/// the scrape, so it always equals the last bucket; the sum may be ahead or behind by values recorded just then.
final class HistogramSeries: RecorderHandler, TimerHandler, MetricSeries {
    static let type = MetricType.histogram
    static let reservedLabel: String? = "le"

    private let bounds: HistogramBounds
    /// One for each bound and one for what lies beyond the last.
    private let buckets: [AtomicCount]
    private let sum = AtomicDouble(0)

    init(_ bounds: HistogramBounds) {
        self.bounds = bounds
        buckets = (0...bounds.upper.count).map { _ in AtomicCount() }
    }

    func record(_ value: Int64) {
        record(Double(value))
    }

    /// Counts a value; NaN and the infinities are left out, for they would spoil the sum for good.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.bucket(of: value)].increment()
        sum.add(value)
    }

    func recordNanoseconds(_ duration: Int64) {
        record(Double(duration) / 1e9)
    }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        var count: UInt64 = 0
        for (bound, bucket) in zip(bounds.upper + [.infinity], buckets) {
            count &+= bucket.load()
            writer.write("\(name)_bucket", labels, bound: bound, count)
        }
        writer.write("\(name)_sum", labels, sum.load())
        writer.write("\(name)_count", labels, count)
    }
}
