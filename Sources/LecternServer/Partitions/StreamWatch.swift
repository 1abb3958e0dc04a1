import Journal
import Logging
import Whiteboard

/// Detects streams deleted while the daemon runs, without which nothing is acknowledged or saved, and reopens a partition
/// when its streams are back. Creates empty streams only if configured: they would block a restore under the same names.
///
/// Checks one partition a second, and all of them once one lacks a stream.
struct StreamWatch: Sendable {
    let journal: JetStreamJournal
    let recreates: Bool
    let logger: Logger
    /// Called if a partition's streams were replaced: its rooms have to be discarded. The reader could not tell a new log
    /// that has grown as long as the old one.
    let onRenewed: @Sendable (Int) -> Void
    /// Called with the partitions whose streams are gone, each second, and with none when all are back.
    let onMissing: @Sendable (Set<Int>) -> Void

    private static let interval = Duration.seconds(1)
    /// Time after which a missing stream is checked again: a cluster that has just started may not know all its streams.
    private static let doubt = Duration.seconds(5)
    private static let reminder = Duration.seconds(30)

    /// Runs until the task is cancelled.
    /// - Parameter partitions: returns the partitions that are open.
    func run(_ partitions: () async -> [Int]) async {
        var turn = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let open = await partitions()
            guard !open.isEmpty else { continue }
            turn += 1
            guard await !missing(open[turn % open.count]).isEmpty else { continue }
            try? await Task.sleep(for: Self.doubt)
            var gone: Set<Int> = []
            for partition in await partitions() where await !missing(partition).isEmpty { gone.insert(partition) }
            await wait(for: gone, among: partitions)
        }
    }

    /// Waits until the streams of all partitions are back, or creates them if configured; logs reminders.
    private func wait(for partitions: Set<Int>, among open: () async -> [Int]) async {
        var gone = partitions
        var toldAt: Instant?
        while !gone.isEmpty, !Task.isCancelled {
            for partition in await open() where !gone.contains(partition) {
                guard await !missing(partition).isEmpty else { continue }
                gone.insert(partition)
                toldAt = nil
            }
            onMissing(gone)
            let now = MonotonicClock.now()
            let tells = toldAt.map { now - $0 >= Self.reminder } ?? true
            if tells { toldAt = now }
            for partition in gone.sorted() {
                let isBack = recreates ? await provide(partition) : await isBack(partition, tells: tells)
                guard isBack else { continue }
                gone.remove(partition)
                onRenewed(partition)
                onMissing(gone)
            }
            if !gone.isEmpty { try? await Task.sleep(for: Self.interval) }
        }
    }

    private func isBack(_ partition: Int, tells: Bool) async -> Bool {
        guard let names = try? await journal.missingStreams(partition) else { return false }
        if names.isEmpty {
            logger.notice("streams are back; reopening the partition", metadata: ["partition": "\(partition)"])
        } else if tells {
            logger.error(
                "streams are gone: nothing is acknowledged or saved",
                metadata: [
                    "partition": "\(partition)", "streams": "\(names.joined(separator: " "))",
                    "hint": "restore them, or let the daemon create empty ones: journal.recreate_streams",
                ])
        }
        return names.isEmpty
    }

    /// The streams known to be missing.
    private func missing(_ partition: Int) async -> [String] {
        (try? await journal.missingStreams(partition)) ?? []
    }

    /// - Returns: whether they were created.
    private func provide(_ partition: Int) async -> Bool {
        guard !Task.isCancelled else { return false }
        do {
            _ = try await journal.provision(partition)
            logger.error(
                "streams were gone with their records; created empty ones", metadata: ["partition": "\(partition)"])
            return true
        } catch {
            logger.warning(
                "streams are gone and could not be created yet",
                metadata: ["partition": "\(partition)", "error": "\(error)"])
            return false
        }
    }
}
