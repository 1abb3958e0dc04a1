internal import Metrics
internal import Synchronization

enum MetricType: String {
    case counter, gauge, histogram
}

/// The values of one metric for one combination of labels.
protocol MetricSeries: AnyObject, Sendable {
    static var type: MetricType { get }
    /// The label that the text format itself uses for this type.
    static var reservedLabel: String? { get }
    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter)
}

extension MetricSeries {
    static var reservedLabel: String? { nil }
}

/// A counter of events; one atomic addition each.
final class CounterSeries: CounterHandler, MetricSeries {
    static let type = MetricType.counter
    private let count = Atomic<UInt64>(0)

    var value: UInt64 { count.load(ordering: .relaxed) }

    /// Adds a positive amount; ignores others, since a counter never goes down. It wraps to 0 at 2^64.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    func reset() { count.store(0, ordering: .relaxed) }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, String(value))
    }
}

/// A counter of fractions, of seconds for example.
final class FloatingPointCounterSeries: FloatingPointCounterHandler, MetricSeries {
    static let type = MetricType.counter
    private let sum = AtomicDouble(0)

    /// Adds a finite positive amount; ignores others.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        sum.add(amount)
    }

    func reset() { sum.store(0) }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, ExpositionWriter.number(sum.load()))
    }
}

/// A value that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler, MetricSeries {
    static let type = MetricType.gauge
    private let value = AtomicDouble(0)

    func set(_ value: Int64) { self.value.store(Double(value)) }
    func set(_ value: Double) { self.value.store(value) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    /// Adds a finite amount; ignores others.
    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        value.add(amount)
    }

    /// Subtracts a finite amount; ignores others.
    func decrement(by amount: Double) { increment(by: -amount) }

    func write(name: String, labels: LabelSet, into writer: inout ExpositionWriter) {
        writer.write(name, labels, ExpositionWriter.number(value.load()))
    }
}

/// A floating-point number that any thread may add to, by compare-and-exchange of its bits.
final class AtomicDouble: Sendable {
    private let bits: Atomic<UInt64>

    init(_ value: Double) { bits = Atomic(value.bitPattern) }

    func load() -> Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func store(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }
}
