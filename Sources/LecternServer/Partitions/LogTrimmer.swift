import Journal
import Locking
import Logging
import Metrics
import Whiteboard

/// Deletes records of nearly full logs that no checkpoint needs any more. Safe from any thread.
final class LogTrimmer: Sendable {
    private struct Log {
        var checkedAt = Instant.distantPast
        var isBeingTrimmed = false
        /// When a lack of space was last logged.
        var toldAt = Instant.distantPast
    }

    private let keeper: CheckpointKeeper
    private let journal: JetStreamJournal
    /// Between two looks at a log.
    private let interval: Duration
    private let logger: Logger
    private let logs = Locked<[Int: Log]>([:])

    private static let reminder = Duration.seconds(60)
    /// Rooms whose older generation is deleted at a time.
    private static let releaseBatch = 256

    init(_ keeper: CheckpointKeeper, journal: JetStreamJournal, interval: Duration, logger: Logger) {
        self.keeper = keeper
        self.journal = journal
        self.interval = interval
        self.logger = logger
    }

    /// Trims the log of a partition if it is nearly full. Looks at it once in the interval.
    /// - Parameter covered: last record that acknowledged checkpoints hold with all before it.
    func trim(_ partition: Int, covered: UInt64) async {
        guard let noted = keeper.noted(of: partition), begin(partition, at: MonotonicClock.now()) else { return }
        defer { logs.withLock { $0[partition]?.isBeingTrimmed = false } }
        let isFull = keeper.takeRefusal(of: partition)
        var isLow = false
        do throws(JournalError) {
            let space = try await journal.space(of: partition)
            ServerMetrics.logFullness(of: partition).set(space.fullness)
            isLow = space.isLow || isFull
            guard isLow else { return }
            // The next owner reads no record through the one last noted.
            let last = min(covered, noted)
            let wantedFirst = isFull ? last + 1 : space.wantedFirst
            let first = min(wantedFirst, min(last, keeper.known.oldest(of: partition)) + 1)
            if first > space.firstSequence { try await journal.trim(partition, before: first) }
            // One room that has been idle for long would keep all of the log by its older generation.
            if first < wantedFirst {
                let below = min(wantedFirst - 1, last)
                for room in keeper.known.rooms(of: partition, below: below, atMost: Self.releaseBatch) {
                    keeper.releaseOldGeneration(of: room)
                }
            }
            tell(
                "the journal's log is nearly full; records held by checkpoints are deleted", partition,
                [
                    "full": "\(Int(space.fullness * 100)) %",
                    "deleted": "\(first > space.firstSequence ? first - space.firstSequence : 0)",
                ])
        } catch {
            guard isLow else {
                return logger.debug("log not checked", metadata: ["partition": "\(partition)", "error": "\(error)"])
            }
            tell("records of a nearly full log cannot be deleted", partition, ["error": "\(error)"])
        }
    }

    private func begin(_ partition: Int, at now: Instant) -> Bool {
        logs.withLock { logs in
            var log = logs[partition, default: Log()]
            guard !log.isBeingTrimmed, now - log.checkedAt >= interval else { return false }
            (log.isBeingTrimmed, log.checkedAt) = (true, now)
            logs[partition] = log
            return true
        }
    }

    private func tell(_ message: Logger.Message, _ partition: Int, _ fields: Logger.Metadata) {
        let now = MonotonicClock.now()
        let isDue = logs.withLock { logs in
            guard let log = logs[partition], now - log.toldAt >= Self.reminder else { return false }
            logs[partition]?.toldAt = now
            return true
        }
        if isDue { logger.warning(message, metadata: fields.merging(["partition": "\(partition)"]) { $1 }) }
    }
}
