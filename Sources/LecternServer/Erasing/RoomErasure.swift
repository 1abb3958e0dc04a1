import Journal
import Locking
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Erases rooms: ends a room's life by a decision in its log, and deletes what the streams hold of it from before.
///
/// The decision comes first, so that every daemon, gateway and student forgets the room where it stands in the log; what is
/// written after it is another life, and stays. Then the checkpoint that holds the decision is waited for: no daemon writes
/// an older one from then on. Only then something is deleted. Each step can be repeated, and an erasure that was cut off is
/// finished by another one. Any daemon may do it, whichever partition the room is in.
struct RoomErasure: Sendable {
    /// How far it is.
    struct Progress: Sendable, Equatable {
        var step: String
        var made: Int?
        var total: Int?
    }

    private let configuration: ServerConfiguration
    private let eraser: RoomEraser
    private let assets: AssetStore
    private let connection: NATSConnection

    /// How long the owner of a room may take to save its end, and all rooms of the partition to be saved once more.
    private static let savingTime: Duration = .seconds(60)
    private static let coveringTime: Duration = .seconds(45)
    private static let pollInterval: Duration = .milliseconds(200)
    /// How often progress is told.
    private static let tellInterval: Duration = .seconds(1)

    init(
        _ configuration: ServerConfiguration, settings: JournalSettings, connection: NATSConnection, logger: Logger
    ) {
        self.configuration = configuration
        self.connection = connection
        eraser = RoomEraser(
            root: configuration.root, partitions: configuration.partitions, settings: settings,
            connection: connection, logger: logger)
        assets = AssetStore(
            root: configuration.root, settings: settings, maxBytes: configuration.assetBytes,
            roomBytes: configuration.roomAssetBytes, connection: connection, logger: logger)
    }

    /// Erases a room.
    ///
    /// - Parameters:
    ///   - decide: writes the decision to the room's log; returns its sequence.
    ///   - tell: called with how far it is, at each step and each second.
    /// - Returns: the decision's sequence, and what was deleted, in a sentence.
    func erase(
        _ room: RoomID, decide: () async throws(RequestError) -> UInt64,
        tell: @escaping @Sendable (Progress) -> Void
    ) async throws(RequestError) -> (sequence: UInt64, what: String) {
        let progress = Locked(Progress(step: "looking for what there is of the room"))
        let telling = Task {
            while (try? await Task.sleep(for: Self.tellInterval)) != nil { tell(progress.withLock { $0 }) }
        }
        defer { telling.cancel() }
        func say(_ step: String, _ made: Int? = nil, of total: Int? = nil) {
            let now = Progress(step: step, made: made, total: total)
            let before = progress.withLock { progress in
                defer { progress = now }
                return progress
            }
            if before.step != step { tell(now) }
        }
        do {
            // The checkpoint goes with the decision.
            var candidates = try await eraser.checkpointAssets(of: room, configuration.room)
            let decision = try await decision(on: room, decide)
            say("waiting until the end of the room is saved")
            try await wait(Self.savingTime) { try await eraser.isSaved(decision) }
            say("waiting until the other rooms are saved")
            // Otherwise daemons that start meanwhile pass over gaps in the log, and say so.
            _ = try? await wait(Self.coveringTime) { try await eraser.isCovered(decision) }
            say("looking for the records of the room")
            let records = try await eraser.records(before: decision)
            let uploads = try await assets.uploads(to: room, before: decision.time)
            candidates.formUnion(records.assets)
            candidates.formUnion(uploads)
            let gone = try await erase(candidates, uploads, decision) { say($0, $1, of: $2) }
            say("deleting records", 0, of: records.count)
            try await eraser.erase(records) { say("deleting records", $0, of: records.count) }
            say("deleting checkpoints")
            var checkpoints = try await eraser.eraseCheckpoints(before: decision)
            // What a daemon had on its way that was behind.
            try await Task.sleep(for: .milliseconds(500))
            checkpoints += try await eraser.eraseCheckpoints(before: decision)
            let notice = ErasedRoom(room: room, assets: gone.sorted { $0.description < $1.description })
            try? connection.publish(notice.encoded(), to: ErasedRoom.subject(root: configuration.root))
            let files = candidates.isEmpty ? "" : ", \(gone.count) of \(candidates.count) files"
            return (
                decision.sequence, "deleted \(records.count) records, \(checkpoints) messages of checkpoints\(files)"
            )
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(.notReady, "Not all of the room is deleted: \(error). Erase it again.")
        }
    }

    /// The decision to erase the room up to now: that of an erasure before, where nothing was written since, else a new one.
    private func decision(
        on room: RoomID, _ decide: () async throws(RequestError) -> UInt64
    ) async throws -> RoomEraser.Decision {
        if let last = try await eraser.decision(room), try await eraser.isSaved(last),
            try await !eraser.isWritten(after: last)
        {
            return last
        }
        let sequence = try await decide()
        guard let decision = try await eraser.decision(room), decision.sequence >= sequence else {
            throw RequestError(.notReady, "The decision is not in the room's log.")
        }
        return decision
    }

    private func wait(_ limit: Duration, until isDone: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while try await !isDone() {
            guard ContinuousClock.now < deadline else {
                throw RequestError(
                    .notReady,
                    "The room has ended, but no daemon has saved that yet. Erase it again when one serves it.")
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Erases those of some assets that nothing else names.
    /// - Parameter uploads: those that were brought to the room.
    /// - Returns: those that are gone.
    private func erase(
        _ candidates: Set<AssetID>, _ uploads: Set<AssetID>, _ decision: RoomEraser.Decision,
        _ say: (String, Int?, Int?) -> Void
    ) async throws -> Set<AssetID> {
        guard !candidates.isEmpty else { return [] }
        say("looking for other rooms with its files", 0, configuration.partitions)
        let named = try await eraser.named(candidates, elsewhereThan: decision, configuration.room) {
            say("looking for other rooms with its files", $0, configuration.partitions)
        }
        var gone: Set<AssetID> = []
        for (count, asset) in candidates.subtracting(named).enumerated() {
            say("deleting files", count, candidates.count)
            if try await assets.erase(asset, of: decision.room, before: decision.time) { gone.insert(asset) }
        }
        for asset in uploads { try await assets.eraseRecord(of: asset, in: decision.room, before: decision.time) }
        return gone
    }
}
