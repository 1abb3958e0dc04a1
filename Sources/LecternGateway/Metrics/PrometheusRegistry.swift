import Dispatch
import Locking
public import Metrics

/// The metrics of this process: a backend of swift-metrics that writes Prometheus' text format.
///
/// Any thread may record and scrape. Recording uses only atomics of its own series. Looking a series up takes the
/// registry's lock, so keep a `Counter`, `Meter`, `Recorder` or `Timer` that is used often.
///
/// Kinds of swift-metrics and of Prometheus:
/// - `Counter`, `FloatingPointCounter`: a counter; its name gets the ending `_total`;
/// - `Meter`, `Gauge` (a `Recorder` that does not aggregate): a gauge;
/// - `Recorder` that aggregates: a histogram, of seconds when its name ends in `_seconds`;
/// - `Timer`: a histogram of seconds; its name gets the ending `_seconds`.
///
/// Metrics and series are bounded (``MetricTable``); those beyond are counted in `lectern_metrics_refused_total`, by the
/// name of the metric.
public final class PrometheusRegistry: Sendable {
    private struct State {
        var table: MetricTable
        var hooks: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>
    /// Runs the hooks.
    private let scrapes = DispatchQueue(label: "lectern.scrapes")
    private let help: [String: String]

    /// - Parameters:
    ///   - help: help texts by full metric name; a metric without one has no HELP line.
    ///   - maxSeries: label combinations of one metric; all further ones share one series with the label value `other`.
    public init(help: [String: String] = [:], maxSeries: Int = 1000) {
        self.help = help
        state = Locked(State(table: MetricTable(maxSeries: maxSeries)))
    }

    /// Adds a hook that runs before each scrape, to set gauges whose value is looked up only then.
    ///
    /// Hooks run in the order in which they were added, on the scraping thread, those of one scrape at a time: what adds the
    /// difference to the last one counts nothing twice. They must not block.
    public func onScrape(_ hook: @escaping @Sendable () -> Void) {
        state.withLock { $0.hooks.append(hook) }
    }

    /// All metrics in Prometheus' text format 0.0.4, sorted by name, then by labels.
    ///
    /// A series that is recorded to meanwhile shows one of the values that it had during the call.
    public func text() -> String {
        let hooks = state.withLock { $0.hooks }
        scrapes.sync { for hook in hooks { hook() } }
        var writer = ExpositionWriter()
        for (name, family) in state.withLock({ $0.table.sorted }) {
            writer.write(family, name: name, help: help[name])
        }
        return writer.text
    }

    /// The series of a metric for a combination of labels; makes a missing one.
    private func series<Series: MetricSeries>(
        _ name: String, _ dimensions: [(String, String)], make: () -> Series
    ) -> Series {
        let labels = LabelSet(dimensions, reserved: Series.reservedLabel)
        return state.withLock { $0.table.series(name, labels, make: make) }
    }

    /// Removes a series from the text. Its holders may still record to it.
    private func remove(_ handler: AnyObject) {
        guard let series = handler as? any MetricSeries else { return }
        state.withLock { $0.table.remove(series) }
    }
}

extension PrometheusRegistry: MetricsFactory {
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(MetricName.counter(label), dimensions) { CounterSeries() }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(MetricName.counter(label), dimensions) { FloatingPointCounterSeries() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(MetricName.plain(label), dimensions) { GaugeSeries() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let name = MetricName.plain(label)
        guard aggregate else { return series(name, dimensions) { GaugeSeries() } }
        return series(name, dimensions) { HistogramSeries(HistogramBounds(forMetric: name)) }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(MetricName.seconds(label), dimensions) { HistogramSeries(.seconds) }
    }

    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
