import Journal
import Logging

/// Makes streams again that have gone while the daemon runs: without them authors are not acknowledged, and nothing is
/// saved.
///
/// Looks at one partition a second, and at all where one lacks something.
struct StreamWatch: Sendable {
    let journal: JetStreamJournal
    let logger: Logger
    /// A partition's streams are new: what was made of the old ones is void. Its reader could not tell a new log that
    /// has grown as long as the old one was.
    let onRenewed: @Sendable (Int) -> Void

    private static let interval = Duration.seconds(1)
    /// What is missing has to be missing still after that: a cluster that comes back may not know all its streams yet.
    private static let doubt = Duration.seconds(5)

    /// Runs until the task is cancelled.
    /// - Parameter partitions: those that the daemon has open, each time it is called.
    func run(_ partitions: () async -> [Int]) async {
        var turn = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let open = await partitions()
            guard !open.isEmpty else { continue }
            turn += 1
            guard await lacksStreams(open[turn % open.count]) else { continue }
            try? await Task.sleep(for: Self.doubt)
            for partition in await partitions() where await lacksStreams(partition) { await provide(partition) }
        }
    }

    private func lacksStreams(_ partition: Int) async -> Bool {
        (try? await journal.lacksStreams(partition)) ?? false
    }

    private func provide(_ partition: Int) async {
        guard !Task.isCancelled else { return }
        do {
            _ = try await journal.provision(partition)
            logger.error(
                "streams were gone, and what was in them; made again, empty", metadata: ["partition": "\(partition)"])
            onRenewed(partition)
        } catch {
            logger.warning(
                "streams are gone and not made again yet",
                metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }
}
