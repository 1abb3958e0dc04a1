internal import Locking
internal import Logging
internal import Metrics
internal import StrokeWire

/// How far ink and picture are apart at the readers of a gateway: metrics by cohort, and a line in the log where it is bad
/// in a room. Safe from any thread.
///
/// All of it is bounded, for names of cohorts and readers are the clients' own.
final class SkewTable: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct Limits: Sendable {
        /// Cohorts with series of their own. One more takes the place of one of which nothing was heard for 10 minutes;
        /// else it shares those of `other`.
        var cohorts = 64
        /// Readers that report, in all and of one address; those beyond are ignored.
        var readers = 50_000
        var readersPerAddress = 1000
        /// Cohorts of rooms that are watched.
        var watches = 1024
        /// For how long skews are gathered before they are judged.
        var window = Duration.seconds(60)
        /// Between two lines in the log.
        var logInterval = Duration.seconds(5)
    }

    struct Reader: Hashable {
        let address: String
        /// The name that it has given itself; "" for none: all such readers of an address count as one.
        let name: String
        let cohort: CohortName
    }

    /// One observation a second, and ten at once for readers who gather them.
    private struct Rate {
        /// A reader that was silent for so long reports no longer.
        static let lifetime = Duration.seconds(60)

        let label: String
        var bucket: TokenBucket
        var heardAt: Instant
    }

    private struct Series {
        let seconds: Recorder
        let early: Counter
        let readers: Gauge
        let badRooms: Gauge
        var updated: Instant

        init(_ cohort: String, _ registry: PrometheusRegistry, at now: Instant) {
            let dimensions = [("cohort", cohort)]
            seconds = Recorder(label: GatewayMetrics.skew, dimensions: dimensions, factory: registry)
            early = Counter(label: GatewayMetrics.earlySkew, dimensions: dimensions, factory: registry)
            readers = Gauge(label: GatewayMetrics.skewReaders, dimensions: dimensions, factory: registry)
            badRooms = Gauge(label: GatewayMetrics.badSkewRooms, dimensions: dimensions, factory: registry)
            updated = now
        }

        func destroy() {
            seconds.destroy()
            early.destroy()
            readers.destroy()
            badRooms.destroy()
        }
    }

    private struct Watched: Hashable {
        let room: RoomID
        let cohort: CohortName
    }

    private struct State {
        var series: [String: Series] = [:]
        var readers: [Reader: Rate] = [:]
        var readersByAddress: [String: Int] = [:]
        var watches: [Watched: SkewWatch] = [:]
        var sweptAt: Instant?
        /// The last line of a bad cohort, and bad cohorts that had none since.
        var warnedAt: Instant?
        var unsaid = 0
    }

    private enum Line {
        case bad(Watched, SkewSummary, others: Int)
        case good(Watched, SkewSummary)
    }

    private static let other = "other"
    private static let seriesLifetime = Duration.seconds(600)
    /// A cohort of a room of which nothing was heard for so long is not watched any more.
    private static let watchLifetime = Duration.seconds(300)

    private let limits: Limits
    private let alarm: @Sendable () -> Duration
    private let registry: PrometheusRegistry
    private let logger: Logger
    private let excess: Counter
    private let strangers: Counter
    private let state = Locked(State())

    /// - Parameter alarm: where ink of a room is later than this, there is a line in the log; asked each time.
    init(_ limits: Limits, alarm: @escaping @Sendable () -> Duration, registry: PrometheusRegistry, logger: Logger) {
        self.limits = limits
        self.alarm = alarm
        self.registry = registry
        self.logger = logger
        let ignored = GatewayMetrics.ignoredSkews
        excess = Counter(label: ignored, dimensions: [("reason", "rate")], factory: registry)
        strangers = Counter(label: ignored, dimensions: [("reason", "readers")], factory: registry)
        // There from the beginning, as the other metrics are.
        state.withLock { $0.series[Self.other] = Series(Self.other, registry, at: .now) }
        registry.onScrape { [weak self] in self?.refresh(at: .now) }
    }

    /// Takes the skews that a reader reports, in milliseconds, as many as it may.
    ///
    /// - Parameter isKnown: whether somebody but the reader says that there is such a cohort.
    func take(_ skews: [Double], by reader: Reader, in room: RoomID, isKnown: Bool, at now: Instant = .now) {
        let watched = Watched(room: room, cohort: reader.cohort)
        let lines = state.withLock { state -> [Line] in
            let label = open(isKnown ? reader.cohort.text : Self.other, &state, at: now)
            guard let count = admit(skews.count, by: reader, label, &state, at: now) else {
                strangers.increment(by: skews.count)
                return []
            }
            excess.increment(by: skews.count - count)
            var lines: [Line] = []
            for skew in skews.prefix(count) {
                state.series[label]?.seconds.record(abs(skew) / 1000)
                if SkewSummary.isEarly(skew) { state.series[label]?.early.increment() }
                if isKnown, let line = watch(skew, watched, &state, at: now) { lines.append(line) }
            }
            return lines
        }
        for line in lines { write(line) }
    }

    /// Finds or makes the series of a cohort; those of `other` where there is no place.
    private func open(_ cohort: String, _ state: inout State, at now: Instant) -> String {
        var label = cohort
        if label != Self.other, state.series[label] == nil, state.series.count >= limits.cohorts {
            let oldest = state.series.filter { $0.key != Self.other }.min { $0.value.updated < $1.value.updated }
            if let oldest, now - oldest.value.updated > Self.seriesLifetime {
                oldest.value.destroy()
                state.series[oldest.key] = nil
            } else {
                label = Self.other
            }
        }
        state.series[label, default: Series(label, registry, at: now)].updated = now
        return label
    }

    /// - Returns: how many of its observations count now; nil when there are too many readers.
    private func admit(
        _ count: Int, by reader: Reader, _ label: String, _ state: inout State, at now: Instant
    ) -> Int? {
        func isFull() -> Bool {
            state.readers.count >= limits.readers
                || state.readersByAddress[reader.address, default: 0] >= limits.readersPerAddress
        }
        if state.readers[reader] == nil {
            if isFull() { sweep(&state, at: now) }
            guard !isFull() else { return nil }
            state.readersByAddress[reader.address, default: 0] += 1
        }
        var rate =
            state.readers[reader]
            ?? Rate(label: label, bucket: TokenBucket(rate: 1, burst: 10, at: now), heardAt: now)
        rate.bucket.refill(at: now)
        rate.heardAt = max(rate.heardAt, now)
        let admitted = min(count, rate.bucket.tokens)
        rate.bucket.take(admitted)
        state.readers[reader] = rate
        return admitted
    }

    private func watch(_ skew: Double, _ key: Watched, _ state: inout State, at now: Instant) -> Line? {
        if state.watches[key] == nil, state.watches.count >= limits.watches { sweep(&state, at: now) }
        guard state.watches[key] != nil || state.watches.count < limits.watches else { return nil }
        var watch = state.watches[key] ?? SkewWatch(window: limits.window, at: now)
        defer { state.watches[key] = watch }
        guard let summary = watch.add(skew, at: now) else { return nil }
        watch.isBad = summary.isBad(over: alarm())
        switch (watch.isBad, watch.isTold) {
        case (false, true):
            watch.isTold = false
            return .good(key, summary)
        case (true, false):
            if let last = state.warnedAt, now - last < limits.logInterval {
                // Its next bad minute is told.
                state.unsaid += 1
                return nil
            }
            watch.isTold = true
            defer { (state.warnedAt, state.unsaid) = (now, 0) }
            return .bad(key, summary, others: state.unsaid)
        case (true, true), (false, false):
            return nil
        }
    }

    /// Forgets who was silent for long; at most once a second.
    private func sweep(_ state: inout State, at now: Instant) {
        if let last = state.sweptAt, now - last < .seconds(1) { return }
        state.sweptAt = now
        state.readers = state.readers.filter { now - $0.value.heardAt < Rate.lifetime }
        state.readersByAddress = state.readers.keys.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
        state.watches = state.watches.filter { now - $0.value.updated < Self.watchLifetime }
    }

    /// Sets the gauges.
    private func refresh(at now: Instant) {
        state.withLock { state in
            sweep(&state, at: now)
            let reporting = state.readers.values.reduce(into: [:]) { $0[$1.label, default: 0] += 1 }
            let bad = state.watches.filter(\.value.isBad).keys.reduce(into: [:]) { $0[$1.cohort.text, default: 0] += 1 }
            for (label, series) in state.series {
                series.readers.record(reporting[label] ?? 0)
                series.badRooms.record(bad[label] ?? 0)
            }
        }
    }

    private func write(_ line: Line) {
        switch line {
        case .bad(let key, let summary, let others):
            var metadata = metadata(key, summary)
            metadata["alarm_ms"] = "\(Int(alarm() / .milliseconds(1)))"
            if others > 0 { metadata["others"] = "\(others)" }
            let isLate = summary.p95 > alarm() / .milliseconds(1)
            logger.warning("ink comes \(isLate ? "after" : "before") its picture", metadata: metadata)
        case .good(let key, let summary):
            logger.notice("ink is in step again", metadata: metadata(key, summary))
        }
    }

    private func metadata(_ key: Watched, _ summary: SkewSummary) -> Logger.Metadata {
        [
            "room": "\(key.room)", "cohort": "\(key.cohort.text)", "observations": "\(summary.count)",
            "p50_ms": "\(Int(summary.median))", "p95_ms": "\(Int(summary.p95))",
            "early_percent": "\(Int((summary.early * 100).rounded()))", "earliest_ms": "\(Int(summary.earliest))",
        ]
    }
}
