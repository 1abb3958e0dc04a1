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
    private let configuration: ServerConfiguration
    private let deletion: StoredRoomDeletion
    private let assets: AssetStore
    private let connection: NATSConnection
    private let logger: Logger

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
        self.logger = logger
        deletion = StoredRoomDeletion(
            root: configuration.root, partitions: configuration.partitions, settings: settings,
            connection: connection, logger: logger)
        assets = AssetStore(
            root: configuration.root, settings: settings, maxBytes: configuration.assetBytes,
            roomBytes: configuration.roomAssetBytes, connection: connection, logger: logger)
    }

    /// Erases a room.
    ///
    /// - Parameters:
    ///   - command: the id of the command. One that comes in again goes on from its decision, whatever was written since.
    ///   - onProgress: called with how far it is, at each step and each second.
    /// - Returns: the decision's sequence, and what was deleted, in a sentence.
    /// - Throws: an error that says what is left; it can be erased again.
    func erase(
        _ room: RoomID, by command: String,
        onProgress: @escaping @Sendable (CommandProgress) -> Void
    ) async throws(RequestError) -> (sequence: UInt64, what: String) {
        let progress = Locked(CommandProgress("looking for what there is of the room"))
        let telling = Task {
            while (try? await Task.sleep(for: Self.tellInterval)) != nil { onProgress(progress.withLock { $0 }) }
        }
        defer { telling.cancel() }
        func say(_ step: String, _ made: Int? = nil, of total: Int? = nil) {
            let now = CommandProgress(step, made: made, of: total)
            if progress.exchange(now).detail != step { onProgress(now) }
        }
        var left = "nothing is deleted yet"
        var gone: Set<AssetID> = []
        do {
            let (decision, boundary, shown) = try await decide(room, command)
            defer { tellCaches(of: room, gone) }
            await note(decision, by: command)
            say("waiting until the end of the room is saved")
            try await wait(Self.savingTime) { try await deletion.isSaved(decision) }
            say("waiting until the other rooms are saved")
            // Otherwise daemons that start meanwhile pass over gaps in the log, and say so.
            _ = try? await wait(Self.coveringTime) { try await deletion.isCovered(decision) }
            say("looking for the records of the room")
            let records = try await deletion.records(before: decision)
            let brought = try await assets.uploads(to: room, boundary)
            let files = shown.union(records.assets).union(brought)
            let doomed = try await unnamed(files, decision) { say($0, $1, of: $2) }
            var remaining = doomed.count
            for (count, asset) in doomed.enumerated() {
                say("deleting files", count, of: doomed.count)
                left = "\(remaining) of \(doomed.count) files, the records and the checkpoints are left"
                let outcome = try await assets.erase(asset, of: room, boundary)
                if outcome == .gone { gone.insert(asset) }
                // The record stays with the file: the next erasure finds it by that.
                if outcome == .left { continue }
                try await assets.eraseRecord(of: asset, in: room, boundary)
                remaining -= 1
            }
            guard remaining == 0 else {
                left = "\(remaining) of \(doomed.count) files, the records and the checkpoints are left"
                throw RequestError(.notReady, Self.unfinished(left, "files were written at the moment of the decision"))
            }
            for asset in brought.subtracting(doomed) {
                try await assets.eraseRecord(of: asset, in: room, boundary)
            }
            left = "records and checkpoints are left"
            say("deleting records", 0, of: records.count)
            try await deletion.erase(records) { say("deleting records", $0, of: records.count) }
            left = "checkpoints are left"
            say("deleting checkpoints")
            var checkpoints = try await deletion.eraseCheckpoints(before: decision)
            // What a daemon had on its way that was behind.
            try await Task.sleep(for: .milliseconds(500))
            checkpoints += try await deletion.eraseCheckpoints(before: decision)
            guard records.count + checkpoints + files.count > 0 else {
                return (decision.sequence, "nothing was stored of it")
            }
            let counts = files.isEmpty ? "" : ", \(gone.count) of \(files.count) files"
            return (
                decision.sequence, "deleted \(records.count) records, \(checkpoints) messages of checkpoints\(counts)"
            )
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(.notReady, Self.unfinished(left, "\(error)"))
        }
    }

    private static func unfinished(_ left: String, _ reason: String) -> String {
        "Not all of the room is deleted: \(left) (\(reason)). Erase it again."
    }

    /// The decision of a command, made now unless the command has come in before; with the assets that the room showed.
    ///
    /// Each command has a decision of its own. One that took over the decision of another would not be known when it comes
    /// in again after the room was written to.
    private func decide(
        _ room: RoomID, _ command: String
    ) async throws -> (decision: StoredRoomDeletion.Decision, boundary: AssetBoundary, shown: Set<AssetID>) {
        if let decision = try await deletion.decision(on: room, by: command) {
            let shown = try await deletion.checkpointAssets(of: room, before: decision.sequence, configuration.room)
            return (decision, decision.assetBoundary(after: nil), shown)
        }
        // The checkpoint goes with the decision.
        let shown = try await deletion.checkpointAssets(of: room, configuration.room)
        await note(shown, in: room)
        try await deletion.decide(room, by: command, assetsBefore: try await assets.lastSequence())
        let after = try await assets.lastSequence()
        guard let decision = try await deletion.decision(on: room, by: command) else {
            throw RequestError(.notReady, "The decision is not in the room's log.")
        }
        return (decision, decision.assetBoundary(after: after), shown)
    }

    /// Notes that a room shows assets: an erasure that is repeated, when the checkpoint is gone, finds them by that. As far as
    /// it can: a store that is full must be no reason not to erase.
    private func note(_ shown: Set<AssetID>, in room: RoomID) async {
        do throws(AssetStoreError) {
            for asset in shown where try await !assets.wasUploaded(asset, to: room) {
                try await assets.note(asset, in: room)
            }
        } catch {
            logger.debug("files of a room to be erased cannot be noted", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps the decision beside the log, which may drop it while the command waits to be given again. As far as it can.
    private func note(_ decision: StoredRoomDeletion.Decision, by command: String) async {
        do throws(JournalError) {
            try await deletion.note(decision, by: command)
        } catch {
            logger.warning("the note of an erasure could not be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Has caches drop what they have of a room, and of assets that are gone.
    private func tellCaches(of room: RoomID, _ gone: Set<AssetID>) {
        for notice in ErasedRoom.notices(room, gone.sorted { $0.description < $1.description }) {
            try? connection.publish(notice.encoded(), to: ErasedRoom.subject(root: configuration.root))
        }
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

    /// Those of some assets that nothing else names.
    private func unnamed(
        _ assets: Set<AssetID>, _ decision: StoredRoomDeletion.Decision, _ say: (String, Int?, Int?) -> Void
    ) async throws -> Set<AssetID> {
        guard !assets.isEmpty else { return [] }
        say("looking for other rooms with its files", 0, configuration.partitions)
        let named = try await deletion.named(assets, elsewhereThan: decision, configuration.room) {
            say("looking for other rooms with its files", $0, configuration.partitions)
        }
        return assets.subtracting(named)
    }
}
