import Glibc
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
        var told: Set<Int> = []
        while !Task.isCancelled {
            let open = await partitions()
            // Another daemon tells of these from now on.
            for partition in told.subtracting(open) {
                for meter in Backlog.meters(of: partition) { meter.destroy() }
            }
            told = Set(open)
            for partition in open {
                // While JetStream does not answer, the figures stay as they were last seen.
                guard let streams = try? await journal.streams(of: partition) else { continue }
                for stream in [streams.log, streams.checkpoints] { set(stream) }
                guard let read = await position(partition) else { continue }
                await backlog(of: partition, streams.log, after: read).report(partition)
            }
            try? await Task.sleep(for: interval)
        }
    }

    private func set(_ stream: StreamSpace) {
        let label = [("stream", stream.name)]
        Meter(label: "lectern_stream_bytes", dimensions: label).set(Double(stream.bytes))
        if let limit = stream.limit {
            Meter(label: "lectern_stream_limit_bytes", dimensions: label).set(Double(limit))
        }
        // Shown from the start, so that a first count is a change.
        _ = Counter(label: "lectern_publishes_refused_total", dimensions: label)
    }

    /// - Parameter read: the last record read, as of a moment after the stream was looked at: what came meanwhile does not
    ///   count.
    func backlog(of partition: Int, _ log: StreamSpace, after read: UInt64) async -> Backlog {
        guard log.sequences.last > read else { return Backlog() }
        let next = max(read + 1, log.sequences.first)
        var backlog = Backlog(records: log.sequences.last - next + 1)
        if let time = try? await journal.time(of: next, in: partition) {
            backlog.age = max(.zero, .nanoseconds(Self.wallClock - time))
        }
        return backlog
    }

    /// Nanoseconds since 1970 by this machine's clock, which may differ a little from the server's.
    private static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
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
