internal import Metrics
internal import Synchronization

/// A count of events. One atomic addition for each.
final class CounterSeries: CounterHandler, MetricSeries {
    static let type = MetricType.counter
    private let count = Atomic<UInt64>(0)

    /// Adds what is above 0; a counter never goes back. It starts again at 0 after 2^64, as after a restart.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    func reset() {
        count.store(0, ordering: .relaxed)
    }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, count.load(ordering: .relaxed))
    }
}
