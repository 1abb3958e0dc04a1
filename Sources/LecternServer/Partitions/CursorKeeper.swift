import Hosting
import Journal
import Locking
import Logging
import Metrics
import NATSClient
import StrokeWire
import Whiteboard

/// Writes what changes of rooms each second, those of a partition together: one confirmation and one record for as many rooms as
/// have asked within ``gathering``. Safe from any thread.
///
/// Bounded by its callers, a room has at most one save under way, and by ``CursorNotes``.
final class CursorKeeper: Sendable {
    typealias Answer = @Sendable (CheckpointKeeper.SaveOutcome) -> Void

    /// A note that is to be stored.
    struct Save: Sendable {
        let request: SaveRequest
        /// Of the connection on which the room's releases were published.
        let generation: UInt64
        let then: Answer
    }

    private struct Partition: Sendable {
        let opening: UInt64
        let log: String
        var notes: CursorNotes
        /// The sequence of the last record of each slot.
        var places: [Int: UInt64] = [:]
        var waiting: [Save] = []
        var isWriting = false
    }

    private let store: CheckpointStore
    private let files: CheckpointFiles
    private let connection: NATSConnection
    private let metrics: ServerMetrics
    private let logger: Logger
    private let partitions = Locked<[Int: Partition]>([:])

    /// The rooms of a partition ask within 64 ms each second.
    private static let gathering = Duration.milliseconds(80)
    /// How often a record is written again at once because another daemon has written one beside it.
    private static let attempts = 8

    init(
        _ store: CheckpointStore, _ files: CheckpointFiles, connection: NATSConnection, metrics: ServerMetrics,
        logger: Logger
    ) {
        self.metrics = metrics
        self.logger = logger
        self.store = store
        self.files = files
        self.connection = connection
    }

    /// - Parameters:
    ///   - opening: numbers the times that partitions were opened.
    ///   - inherited: what the last owner has noted and no manifest has.
    func open(_ partition: Int, opening: UInt64, log: String, _ inherited: [CursorNote]) {
        var notes = store.noNotes()
        let now = MonotonicClock.now()
        report(left: inherited.count { !notes.inherit($0, at: now) }, in: partition)
        let before = partitions.withLock {
            $0.updateValue(Partition(opening: opening, log: log, notes: notes), forKey: partition)
        }
        fail(before?.waiting ?? [])
    }

    /// Reports notes of other daemons that have no space.
    private func report(left: Int, in partition: Int) {
        guard left > 0 else { return }
        metrics.notesLeft.increment(by: left)
        logger.error(
            """
            no space for what other daemons have noted of rooms: it stays in their records, and this daemon writes manifests \
            instead of records until the partition is opened again
            """, metadata: ["partition": "\(partition)", "notes": "\(left)"])
    }

    /// Another daemon serves a partition from now on.
    func close(_ partition: Int) {
        fail(partitions.withLock { $0.removeValue(forKey: partition) }?.waiting ?? [])
    }

    private func fail(_ saves: [Save]) { answer(saves, .failed) }

    private func answer(_ saves: [Save], _ outcome: CheckpointKeeper.SaveOutcome) {
        for save in saves {
            metrics.count(outcome)
            save.then(outcome)
        }
    }

    /// A manifest is stored: what it says needs no record.
    func stored(_ manifest: CheckpointManifest, in partition: Int) {
        partitions.withLock { $0[partition]?.notes.stored(manifest) }
    }

    /// What the room's manifest may lack.
    func note(of room: RoomID, in partition: Int) -> CursorNote? { partitions.withLock { $0[partition]?.notes[room] } }

    /// Notes that are to be written to the manifests of their rooms.
    func takeOld(of partition: Int, _ age: Duration, atMost count: Int) -> [CursorNote] {
        partitions.withLock { $0[partition]?.notes.takeOld(age, atMost: count, at: MonotonicClock.now()) ?? [] }
    }

    /// Takes a note, for the next record.
    /// - Parameters:
    ///   - opening: of the partition, as the caller knows it.
    ///   - refuse: called with what has no space in records.
    ///   - onFailure: called where a record could not be written.
    func save(
        _ save: Save, opening: UInt64?, refuse: @escaping @Sendable (Save) -> Void,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) {
        let partition = save.request.partition
        let isFirst = partitions.withLock { partitions -> Bool? in
            guard let opening, partitions[partition]?.opening == opening else { return nil }
            partitions[partition]?.waiting.append(save)
            defer { partitions[partition]?.isWriting = true }
            return partitions[partition]?.isWriting == false
        }
        guard let isFirst else { return fail([save]) }
        guard isFirst, let opening else { return }
        Task { [self] in
            while true {
                try? await Task.sleep(for: Self.gathering)
                guard let saves = next(of: partition, opening) else { return }
                await write(saves, of: partition, opening, refuse, onFailure)
            }
        }
    }

    /// What is to be written next; nil for nothing.
    private func next(of partition: Int, _ opening: UInt64) -> [Save]? {
        partitions.withLock { partitions in
            guard partitions[partition]?.opening == opening, let saves = partitions[partition]?.waiting else {
                return nil
            }
            partitions[partition]?.waiting = []
            partitions[partition]?.isWriting = !saves.isEmpty
            return saves.isEmpty ? nil : saves
        }
    }

    private func write(
        _ saves: [Save], of partition: Int, _ opening: UInt64, _ refuse: @Sendable (Save) -> Void,
        _ onFailure: @Sendable (JournalError) -> Void
    ) async {
        // What was published when they were asked for has arrived.
        let answered = try? await connection.confirmPublished()
        let confirmed = saves.filter { $0.generation == answered }
        fail(saves.filter { $0.generation != answered })
        guard let answered, !confirmed.isEmpty else { return }
        var unanswered = confirmed
        do throws(JournalError) {
            try await files.check(partition, on: answered)
            let now = MonotonicClock.now()
            let isTaken = partitions.withLock { partitions -> [Bool] in
                guard partitions[partition]?.opening == opening else { return [] }
                return confirmed.map { partitions[partition]?.notes.put(CursorNote($0.request), at: now) ?? false }
            }
            guard !isTaken.isEmpty else { throw .unconfirmed }
            unanswered = zip(confirmed, isTaken).filter { $0.1 }.map { $0.0 }
            for (save, isTaken) in zip(confirmed, isTaken) where !isTaken { refuse(save) }
            guard !unanswered.isEmpty else { return }
            try await writeChanged(of: partition, opening)
            answer(unanswered, .saved)
        } catch {
            onFailure(error)
            fail(unanswered)
        }
    }

    /// Writes the records that lack something, and again where another daemon has written others beside them.
    private func writeChanged(of partition: Int, _ opening: UInt64) async throws(JournalError) {
        for _ in 0..<Self.attempts {
            let changed = partitions.withLock { partitions in
                partitions[partition]?.opening == opening ? partitions[partition]?.notes.takeChanged() : nil
            }
            guard let changed else { throw .unconfirmed }
            guard !changed.isEmpty else { return }
            for (position, slot) in changed.enumerated() {
                do throws(JournalError) {
                    try await write(slot, of: partition, opening)
                } catch {
                    partitions.withLock { partitions in
                        guard partitions[partition]?.opening == opening else { return }
                        for slot in changed[position...] { partitions[partition]?.notes.setChanged(slot) }
                    }
                    throw error
                }
            }
        }
    }

    private func write(_ slot: Int, of partition: Int, _ opening: UInt64) async throws(JournalError) {
        let record = partitions.withLock { partitions in
            partitions[partition].flatMap { state in
                state.opening == opening && state.notes.mayWrite
                    ? (notes: state.notes.notes(in: slot), log: state.log, place: state.places[slot] ?? 0) : nil
            }
        }
        guard let record else { throw .unconfirmed }
        let (sequence, others) = try await store.save(
            record.notes, in: slot, of: partition, log: record.log, after: record.place)
        let now = MonotonicClock.now()
        let left = partitions.withLock { partitions in
            guard partitions[partition]?.opening == opening else { return 0 }
            partitions[partition]?.places[slot] = sequence
            return others.count { partitions[partition]?.notes.inherit($0, at: now) == false }
        }
        report(left: left, in: partition)
    }
}
