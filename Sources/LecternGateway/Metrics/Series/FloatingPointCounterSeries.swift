internal import Metrics

/// A sum that only grows, of seconds for example.
final class FloatingPointCounterSeries: FloatingPointCounterHandler, MetricSeries {
    static let type = MetricType.counter
    private let sum = AtomicDouble(0)

    /// Adds what is finite and above 0.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        sum.add(amount)
    }

    func reset() {
        sum.store(0)
    }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, sum.load())
    }
}
