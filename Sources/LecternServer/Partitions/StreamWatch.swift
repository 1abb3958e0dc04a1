import Journal
import Logging
import Whiteboard

/// Detects streams deleted while the daemon runs, without which nothing is acknowledged or saved, and reopens a partition
/// when its streams are back. Creates empty streams only if configured: they would block a restore under the same names.
///
/// Checks one partition a second, and all of them while one lacks a stream.
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
    private static let reminder = Duration.seconds(30)

    /// Runs until the task is cancelled.
    /// - Parameter partitions: returns the partitions that are open.
    func run(_ partitions: () async -> [Int]) async {
        var turn = 0
        var suspicion = StreamSuspicion()
        var gone: Set<Int> = []
        var toldAt: Instant?
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let open = await partitions()
            turn += 1
            let isOneEnough = gone.isEmpty && suspicion.isEmpty && !open.isEmpty
            let looked = isOneEnough ? [open[turn % open.count]] : open.filter { !gone.contains($0) }
            let lost = suspicion.update(await missing(among: looked))
            if !lost.isEmpty { toldAt = nil }
            gone.formUnion(lost)
            guard !gone.isEmpty else { continue }
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
        }
    }

    /// The partitions known to lack a stream, and when each was looked at.
    private func missing(among partitions: [Int]) async -> [Int: Instant] {
        var missing: [Int: Instant] = [:]
        for partition in partitions {
            guard let names = try? await journal.missingStreams(partition), !names.isEmpty else { continue }
            missing[partition] = MonotonicClock.now()
        }
        return missing
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

/// Since when partitions have lacked a stream at every look.
///
/// A server that has just started may not know all streams of its cluster, so that a stream that is not found is not gone yet.
struct StreamSuspicion {
    /// How long a partition has to lack a stream before it is given up.
    static let doubt = Duration.seconds(5)

    private var since: [Int: Instant] = [:]

    var isEmpty: Bool { since.isEmpty }

    /// - Parameter missing: the partitions found to lack a stream in one look at all suspected ones, and when. Any other has
    ///   its streams, is not open, or could not be looked at, and is suspected no more.
    /// - Returns: those whose streams are gone; they are suspected no more.
    mutating func update(_ missing: [Int: Instant]) -> Set<Int> {
        var (suspected, gone): ([Int: Instant], Set<Int>) = ([:], [])
        for (partition, now) in missing {
            let first = since[partition] ?? now
            if now - first >= Self.doubt { gone.insert(partition) } else { suspected[partition] = first }
        }
        since = suspected
        return gone
    }
}
