import Journal
import Logging
import Whiteboard

/// Looks whenever a connection is made whether streams can read what they store: a server that starts after a power cut may
/// acknowledge what it cannot read, see ``NATSClient/JetStream/leaveDamagedFile(of:filler:logger:)``.
struct DamageWatch: Sendable {
    let journal: JetStreamJournal
    let logger: Logger
    /// Called with a partition whose log cannot read what it stores: it has to be saved and opened again.
    let onDamaged: @Sendable (Int) -> Void

    private static let interval = Duration.seconds(1)

    /// Runs until the task is cancelled.
    /// - Parameter partitions: returns the partitions that are open. Others are looked at when they are opened.
    func run(_ partitions: () async -> [Int]) async {
        var seen: UInt64?
        while !Task.isCancelled {
            let generation = journal.connectionGeneration
            if generation != seen, await look(at: partitions()) { seen = generation }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// - Returns: whether all could be looked at.
    private func look(at partitions: [Int]) async -> Bool {
        do throws(JournalError) {
            for partition in partitions where try await journal.hasDamagedFile(partition) {
                logger.error(
                    "the log cannot read what it stores; its rooms are saved, and the partition is opened again",
                    metadata: ["partition": "\(partition)"])
                onDamaged(partition)
            }
            try await journal.leaveDamagedSharedFiles()
            return true
        } catch {
            logger.debug("streams not checked for damage", metadata: ["error": "\(error)"])
            return false
        }
    }
}

/// Has the checkpoints of partitions go on in other files where they cannot be read, before anything is saved on a new
/// connection: what a room has saved counts, and is not saved again.
actor CheckpointFiles {
    private let store: CheckpointStore
    private var checks: [Int: (generation: UInt64, result: Task<JournalError?, Never>)] = [:]

    init(_ store: CheckpointStore) {
        self.store = store
    }

    /// Returns when what is stored of a partition from now on can be read.
    /// - Parameter generation: of the connection; each is checked once.
    func check(_ partition: Int, on generation: UInt64) async throws(JournalError) {
        if checks[partition]?.generation != generation {
            let result = Task { [store] () async -> JournalError? in
                do throws(JournalError) {
                    try await store.leaveDamagedFile(of: partition)
                    return nil
                } catch {
                    return error
                }
            }
            checks[partition] = (generation, result)
        }
        guard let failure = await checks[partition]?.result.value else { return }
        if checks[partition]?.generation == generation { checks[partition] = nil }
        throw failure
    }
}
