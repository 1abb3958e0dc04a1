import Journal
import Metrics
import Whiteboard

/// What the streams of the open partitions take of their limits, and what of the logs is not read yet, as metrics.
///
/// One partition after the other, two or three requests each; then a pause.
struct StreamSurvey: Sendable {
    let journal: JetStreamJournal
    /// Between two surveys of all partitions.
    let interval: Duration

    /// Runs until the task is cancelled.
    /// - Parameters:
    ///   - partitions: returns the partitions that are open.
    ///   - position: returns the last record read of a partition; nil where it is closed.
    func run(_ partitions: () async -> [Int], position: (Int) async -> UInt64?) async {
        var meters: [Int: [Meter]] = [:]
        while !Task.isCancelled {
            let open = await partitions()
            for (partition, meters) in meters where !open.contains(partition) { Self.forget(partition, meters) }
            meters = meters.filter { open.contains($0.key) }
            for partition in open {
                if meters[partition] == nil { meters[partition] = [] }
                // While JetStream does not answer, the figures stay as they were last seen.
                guard let streams = try? await journal.streams(of: partition) else { continue }
                meters[partition] = Self.report(streams.log) + Self.report(streams.checkpoints)
                guard let read = await position(partition) else { continue }
                await backlog(of: partition, streams.log, after: read).report(partition)
            }
            try? await Task.sleep(for: interval)
        }
    }

    /// Another daemon tells of a partition from now on: what this one was the last to see would stand beside it for ever.
    /// - Parameter meters: those of its streams.
    static func forget(_ partition: Int, _ meters: [Meter]) {
        let fullness = ServerMetrics.logFullness(of: partition)
        for meter in meters + Backlog.meters(of: partition) + [fullness] { meter.destroy() }
    }

    /// - Returns: what the stream was reported by.
    static func report(_ stream: StreamSpace) -> [Meter] {
        let label = [("stream", stream.name)]
        let bytes = Meter(label: "lectern_stream_bytes", dimensions: label)
        bytes.set(Double(stream.bytes))
        // Shown from the start, so that a first count is a change.
        _ = Counter(label: "lectern_publishes_refused_total", dimensions: label)
        guard let most = stream.limit else { return [bytes] }
        let limit = Meter(label: "lectern_stream_limit_bytes", dimensions: label)
        limit.set(Double(most))
        return [bytes, limit]
    }

    /// - Parameter read: the last record read, as of a moment after the stream was looked at: what came meanwhile does not
    ///   count.
    func backlog(of partition: Int, _ log: StreamSpace, after read: UInt64) async -> Backlog {
        let next = max(read + 1, log.sequences.first)
        // Of a log that has given back all of its records the first sequence lies behind the last.
        guard next <= log.sequences.last else { return Backlog() }
        var backlog = Backlog(records: log.sequences.last - next + 1)
        if let time = try? await journal.time(of: next, in: partition) {
            // By this machine's clock, which may differ a little from the server's.
            backlog.age = max(.zero, .nanoseconds(WallClock.now() - time))
        }
        return backlog
    }
}

/// What a daemon has not read of a log.
struct Backlog {
    var records: UInt64 = 0
    /// Of the first of them.
    var age = Duration.zero

    static func meters(of partition: Int) -> [Meter] {
        let label = [("partition", "\(partition)")]
        return [
            Meter(label: "lectern_log_unread_records", dimensions: label),
            Meter(label: "lectern_log_unread_seconds", dimensions: label),
        ]
    }

    func report(_ partition: Int) {
        let meters = Self.meters(of: partition)
        meters[0].set(Double(records))
        meters[1].set(age / .seconds(1))
    }
}
