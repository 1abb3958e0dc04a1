public import Metrics

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
