internal import Metrics
internal import NIOConcurrencyHelpers

/// Keeps everything that this process measures through swift-metrics, and writes it as text for Prometheus.
///
/// Any thread may record and scrape. Recording touches only atomics of its own series; the registry's lock is held
/// while a series is looked up, so keep the `Counter`, `Meter`, `Recorder` or `Timer` where one is used often.
///
/// How the kinds of swift-metrics appear:
/// - `Counter`, `FloatingPointCounter`: a counter, its name made to end in `_total`;
/// - `Meter`, `Gauge` (a `Recorder` that does not aggregate): a gauge;
/// - `Recorder` that aggregates: a histogram; a name in `_seconds` says that seconds are recorded;
/// - `Timer`: a histogram of seconds, its name made to end in `_seconds`.
///
/// Bounded: see ``MetricTable``. A metric or series for which there is no room is counted in
/// `lectern_metrics_refused_total`, by the name of the metric.
public final class PrometheusRegistry: Sendable {
    private struct State {
        var table: MetricTable
        var hooks: [@Sendable () -> Void] = []
    }

    private let state: NIOLockedValueBox<State>
    private let help: [String: String]

    /// - Parameters:
    ///   - help: one sentence for each metric, by its full name; a metric without one has no HELP line.
    ///   - maxSeries: label combinations that one metric may have; all beyond share one series, whose labels have
    ///     the value `other`.
    public init(help: [String: String] = [:], maxSeries: Int = 1000) {
        self.help = help
        state = NIOLockedValueBox(State(table: MetricTable(maxSeries: maxSeries)))
    }

    /// Adds work to be done before each scrape: for gauges whose value is looked up rather than followed.
    ///
    /// Hooks run in the order in which they were added, on the thread that scrapes; they must not block.
    public func onScrape(_ hook: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.hooks.append(hook) }
    }

    /// All metrics in Prometheus' text format 0.0.4, sorted by name and then by labels.
    ///
    /// Series that are recorded to meanwhile may show any value that they had during the call.
    public func text() -> String {
        for hook in state.withLockedValue({ $0.hooks }) { hook() }
        var writer = ExpositionWriter()
        for (name, family) in state.withLockedValue({ $0.table.sorted }) {
            writer.write(family, name: name, help: help[name])
        }
        return writer.text
    }

    /// The series of a metric for a combination of labels, made when it is not there yet.
    func series<Series: MetricSeries>(
        _ name: String, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series {
        let labels = LabelSet(dimensions, reserved: Series.reservedLabel)
        return state.withLockedValue { $0.table.series(name, labels, make: make) }
    }

    /// Takes a series out of the text. What still holds it may go on recording; nobody reads it any more.
    func remove(_ handler: AnyObject) {
        guard let series = handler as? any MetricSeries else { return }
        state.withLockedValue { $0.table.remove(series) }
    }
}
