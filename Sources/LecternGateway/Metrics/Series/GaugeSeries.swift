internal import Metrics

/// A value that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler, MetricSeries {
    static let type = MetricType.gauge
    private let value = AtomicDouble(0)

    func set(_ value: Int64) { self.value.store(Double(value)) }
    func set(_ value: Double) { self.value.store(value) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    /// Adds what is finite.
    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        value.add(amount)
    }

    /// Takes away what is finite.
    func decrement(by amount: Double) {
        increment(by: -amount)
    }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, value.load())
    }
}
