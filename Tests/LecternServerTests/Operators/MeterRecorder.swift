import Locking
import Metrics

/// A backend of metrics that keeps what gauges were set to, by their names and the values of their labels.
final class MeterRecorder: MetricsFactory, Sendable {
    private final class Handler: MeterHandler, Sendable {
        let name: String
        private let values: Locked<[String: Double]>

        init(_ name: String, _ values: Locked<[String: Double]>) {
            (self.name, self.values) = (name, values)
        }

        func set(_ value: Int64) { set(Double(value)) }
        func set(_ value: Double) { values.withLock { $0[name] = value } }
        func increment(by amount: Double) { values.withLock { $0[name, default: 0] += amount } }
        func decrement(by amount: Double) { increment(by: -amount) }
    }

    private let values = Locked<[String: Double]>([:])

    /// `lectern_stream_bytes INK_LOG_0` and so on.
    var gauges: [String: Double] { values.withLock { $0 } }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        Handler(([label] + dimensions.map { $0.1 }).joined(separator: " "), values)
    }

    func destroyMeter(_ handler: any MeterHandler) {
        guard let handler = handler as? Handler else { return }
        values.withLock { $0[handler.name] = nil }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        NOOPMetricsHandler.instance
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
