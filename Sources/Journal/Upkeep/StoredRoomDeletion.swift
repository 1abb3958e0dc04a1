import Hosting
public import Logging
public import NATSClient
public import StrokeWire
public import Whiteboard

/// Deletes what the streams hold of a room before a decision in its log, and overwrites it on disk.
///
/// Records are deleted one by one: a server that repeats the purge of a replicated log at its start would purge all of it
/// (nats-server 2.9.10). Every step can be repeated, by any daemon: what is gone already is passed over.
///
/// A value; any thread. Takes memory for the sequences of the room's records, 8 bytes each.
public struct StoredRoomDeletion: Sendable {
    /// A decision to erase a room, as it stands in the room's log.
    public struct Decision: Sendable {
        public let room: RoomID
        /// Its sequence in the log of the room's partition.
        public let sequence: UInt64
        /// When the log took it, in nanoseconds since 1970.
        public let time: Int64
        /// The last sequence of the stream of assets before it; 0 where the release that decided did not say it.
        public let assetsBefore: UInt64

        /// The header with ``assetsBefore``.
        static let assetsHeader = "Ink-Assets-Before"

        /// - Parameter after: the last sequence of the stream of assets after the decision; nil where that is not known.
        public func assetBoundary(after: UInt64?) -> AssetBoundary {
            AssetBoundary(before: assetsBefore, after: after, decidedAt: time)
        }
    }

    private let root: String
    private let partitions: Int
    private let jetStream: JetStream
    private let checkpoints: CheckpointStore
    private let logger: Logger

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - partitions: the number of partitions.
    public init(
        root: String, partitions: Int, settings: JournalSettings, connection: NATSConnection, logger: Logger
    ) {
        self.root = root
        self.partitions = partitions
        self.logger = logger
        jetStream = JetStream(connection, timeout: settings.timeout)
        checkpoints = CheckpointStore(
            root: root, partitions: partitions, connection: connection, timeout: settings.timeout, logger: logger)
    }

    private func streams(of room: RoomID) -> PartitionStreams {
        PartitionStreams(root: root, partition: RoomAddress.partition(of: room, among: partitions))
    }

    /// Writes the decision of a command to the room's log.
    ///
    /// - Parameters:
    ///   - command: its id; it cannot be guessed.
    ///   - assetsBefore: the last sequence of the stream of assets.
    /// - Throws: `.stream`; it may be in the log all the same.
    public func decide(
        _ room: RoomID, by command: String, assetsBefore: UInt64
    ) async throws(JournalError) {
        _ = try await jetStream.write(
            .erase, to: address(of: room), id: command, headers: [Decision.assetsHeader: "\(assetsBefore)"])
    }

    /// The decision of a command to erase a room; nil where there is none.
    ///
    /// JetStream drops the repeat of a decision within its duplicate window only, and commands may wait longer: so a command
    /// that comes in twice is known by the decision that the log keeps of it, or by its note.
    public func decision(on room: RoomID, by command: String) async throws(JournalError) -> Decision? {
        let streams = streams(of: room)
        let id = JetStream.messageID(of: command, room)
        // The first: what was written after it is another life.
        for subject in try await subjects(under: address(of: room), kinds: ["ctl"], in: streams) {
            let isMoved = subject.hasPrefix(streams.moved(of: room))
            let found = try await list(streams.log, subject) { message, metadata -> Decision? in
                guard MovedRecord.request(of: message) == id, Self.isDecision(message) else { return nil }
                let moved = isMoved ? MovedRecord(message, streams) : nil
                return Decision(
                    room: room, sequence: metadata.streamSequence, time: moved?.time ?? metadata.time,
                    assetsBefore: message.header(Decision.assetsHeader).flatMap { UInt64($0) } ?? 0)
            }
            if let decision = found.first { return decision }
        }
        return try await notedDecision(on: room, by: command)
    }

    private func address(of room: RoomID) -> RoomAddress { RoomAddress(root: root, room: room, partitions: partitions) }

    private static func isDecision(_ message: borrowing NATSMessage) -> Bool {
        (try? ControlRecord(decoding: message.copyPayload())) == .erase
    }

    /// What is wanted of the messages of a subject, to the end of a stream.
    private func list<Wanted: Sendable>(
        _ stream: String, _ subject: String, headersOnly: Bool = false,
        _ decode: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Wanted?
    ) async throws(JournalError) -> [Wanted] {
        var wanted: [Wanted] = []
        var settings = OrderedConsumerSettings(stream: stream, start: 1, filterSubject: subject)
        settings.headersOnly = headersOnly
        try await onStream(stream) { () throws(JetStreamError) in
            try await jetStream.readToEnd(
                settings, logger: logger, timeout: .seconds(30), decode: decode, take: { wanted.append($0) })
        }
        return wanted
    }

    private func delete(
        _ sequences: [UInt64], in stream: String, _ onProgress: (Int) -> Void = { _ in }
    ) async throws(JournalError) {
        try await onStream(stream) { () throws(JetStreamError) in
            try await jetStream.deleteMessages(stream, sequences, overwriting: true, onProgress: onProgress)
        }
    }
}

/// The log.
extension StoredRoomDeletion {
    /// What the logs have of a room before a decision.
    public struct Records: Sendable {
        fileprivate var sequences: [String: [UInt64]] = [:]
        /// Assets that they name.
        public fileprivate(set) var assets: Set<AssetID> = []

        public var count: Int { sequences.values.reduce(0) { $0 + $1.count } }
    }

    /// The records of a room before a decision, without earlier decisions to erase it; of other partitions' logs those that
    /// came on a subject of the room, sent by a client that took another number of partitions.
    public func records(before decision: Decision) async throws(JournalError) -> Records {
        var records = Records()
        let own = streams(of: decision.room)
        let decisions = Set(
            try await subjects(under: address(of: decision.room), kinds: ["ctl"], in: own))
        for partition in 0..<partitions {
            let streams = PartitionStreams(root: root, partition: partition)
            let log = streams.log
            let address = RoomAddress(root: root, partition: partition, room: decision.room)
            for subject in try await subjects(under: address, in: streams) {
                let found = try await list(log, subject) { message, metadata -> (UInt64, Set<AssetID>)? in
                    guard partition != own.partition || metadata.streamSequence < decision.sequence else { return nil }
                    // Commands that come in again are known by them.
                    if decisions.contains(message.subject), Self.isDecision(message) { return nil }
                    return (metadata.streamSequence, AssetID.named(in: message.copyPayload()))
                }
                for (sequence, assets) in found {
                    records.sequences[log, default: []].append(sequence)
                    records.assets.formUnion(assets)
                }
            }
        }
        return records
    }

    /// The subjects of records of some kinds below an address. A log that records were moved to has those too, and first.
    private func subjects(
        under address: some CustomStringConvertible, kinds: [String] = ["in.*", "ctl"], in streams: PartitionStreams
    ) async throws(JournalError) -> [String] {
        let captured = try await onStream(streams.log) { () throws(JetStreamError) in
            try await jetStream.streamInfo(streams.log).configuration.subjects
        }
        let moved = captured.contains(streams.moved) ? kinds.map { "\(address).moved.\($0)" } : []
        return moved + kinds.map { "\(address).\($0)" }
    }

    /// Deletes records.
    /// - Parameter onProgress: called with the number of those that are gone.
    public func erase(_ records: Records, onProgress: (Int) -> Void) async throws(JournalError) {
        var before = 0
        for (log, sequences) in records.sequences.sorted(by: { $0.key < $1.key }) {
            // The oldest first: a log forgets the places of those at its beginning.
            try await delete(sequences.sorted(), in: log) { onProgress(before + $0) }
            before += sequences.count
        }
    }
}

/// Decisions beside the log, which gives records back when it is nearly full, and those of a certain age.
extension StoredRoomDeletion {
    /// A decision as it is kept with the room's checkpoints, as long as those.
    struct Note: Sendable, Equatable, Codable {
        var command: String
        /// The incarnation prefix of the log.
        var log: String
        var sequence, assetsBefore: UInt64
        var time: Int64
    }

    /// Notes a decision, before anything is deleted: so a command that comes in again is known when the log has given the
    /// decision back.
    public func note(_ decision: Decision, by command: String) async throws(JournalError) {
        let streams = streams(of: decision.room)
        let note = Note(
            command: command, log: try await jetStream.identity(ofLog: streams.log), sequence: decision.sequence,
            assetsBefore: decision.assetsBefore, time: decision.time)
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.publish(
                HashedJSON.encode(note), to: streams.decision(on: decision.room, by: command))
        }
    }

    private func notedDecision(on room: RoomID, by command: String) async throws(JournalError) -> Decision? {
        let streams = streams(of: room)
        let log = try await jetStream.identity(ofLog: streams.log)
        return try await list(streams.checkpoint, streams.decision(on: room, by: command)) { message, _ -> Decision? in
            guard let note = HashedJSON.decode(Note.self, from: message.copyPayload()), note.command == command,
                note.log == log
            else { return nil }
            return Decision(room: room, sequence: note.sequence, time: note.time, assetsBefore: note.assetsBefore)
        }.first
    }
}

/// Checkpoints.
extension StoredRoomDeletion {
    private struct Stored: Sendable {
        let sequence: UInt64
        /// Nil for a part, and for a manifest that cannot be read.
        let manifest: CheckpointManifest?
    }

    /// Whether a checkpoint of the room holds a decision: from then on none that is older takes its place.
    public func isSaved(_ decision: Decision) async throws(JournalError) -> Bool {
        let streams = streams(of: decision.room)
        let log = try await jetStream.identity(ofLog: streams.log)
        return try await checkpoints.manifest(of: decision.room, log: log).map {
            $0.sequence >= decision.sequence
        } ?? false
    }

    /// Whether checkpoints hold all records of the partition through a decision: then no daemon reads those before it.
    public func isCovered(_ decision: Decision) async throws(JournalError) -> Bool {
        let streams = streams(of: decision.room)
        let log = try await jetStream.identity(ofLog: streams.log)
        let message = try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.lastMessage(streams.checkpoint, subject: streams.coverage)
        }
        guard let message, let coverage = try? Coverage(decoding: message.payload) else { return false }
        return coverage.log == log && coverage.covered >= decision.sequence
    }

    /// The assets that the room's newest checkpoint names, in states from before a sequence of the log.
    public func checkpointAssets(
        of room: RoomID, before sequence: UInt64 = .max, _ configuration: RoomConfiguration
    ) async throws(JournalError) -> Set<AssetID> {
        let log = try await jetStream.identity(ofLog: streams(of: room).log)
        guard let manifest = try await checkpoints.manifest(of: room, log: log) else { return [] }
        return try await assets(of: manifest, in: 0..<sequence, configuration)
    }

    /// The assets that a room's states name. Where the newest of them cannot be read, those of older manifests count too: daemons
    /// restore the room from these.
    /// - Parameter manifest: the room's newest.
    private func assets(
        of manifest: CheckpointManifest, in sequences: Range<UInt64>, _ configuration: RoomConfiguration
    ) async throws(JournalError) -> Set<AssetID> {
        var (assets, candidate, newest) = (Set<AssetID>(), manifest, manifest)
        for _ in 0..<Self.attempts {
            var isReadable = true
            let generations = candidate.generations.filter { sequences.contains($0.sequence) }
            for (place, generation) in generations.enumerated() {
                let shown = try await checkpoints.room(
                    from: generation.state, candidate.room, configuration, at: Instant(nanoseconds: 0),
                    logClockAhead: .zero
                )?.checkpoint().assets
                assets.formUnion(shown ?? [])
                if place == 0 { isReadable = shown != nil }
            }
            guard !isReadable else { return assets }
            // A daemon that has saved the room twice meanwhile has deleted what the manifest names.
            let stored = try await checkpoints.manifest(of: manifest.room, log: manifest.log)
            let next = stored == newest ? try await checkpoints.manifest(before: candidate) : stored
            guard let next, let stored else { return assets }
            (candidate, newest) = (next, stored)
        }
        throw .superseded(room: manifest.room, by: newest.sequence)
    }

    /// Manifests of a room that are read at most, while daemons write others.
    private static let attempts = 32

    /// Deletes the room's checkpoints from before a decision, with parts that no manifest names.
    ///
    /// What was written after the first checkpoint that holds the decision is of the room's next life, but for manifests
    /// that hold less, which a daemon wrote that was behind.
    /// - Precondition: ``isSaved(_:)``.
    /// - Returns: the number of messages that were deleted.
    @discardableResult
    public func eraseCheckpoints(before decision: Decision) async throws(JournalError) -> Int {
        let streams = streams(of: decision.room)
        var all: [Stored] = []
        let subject = streams.manifest(of: decision.room)
        for filter in [subject, "\(subject).>"] {
            let notes = streams.decisions(on: decision.room)
            let found = try await list(streams.checkpoint, filter, headersOnly: filter != subject) {
                message, metadata in
                message.subject.hasPrefix(notes) ? nil : (metadata.streamSequence, message.copyPayload())
            }
            all += found.map { sequence, body in
                Stored(
                    sequence: sequence, manifest: filter == subject ? try? CheckpointManifest(decoding: body) : nil)
            }
        }
        let log = try await jetStream.identity(ofLog: streams.log)
        func isNew(_ manifest: CheckpointManifest) -> Bool {
            manifest.log == log && manifest.sequence >= decision.sequence
        }
        let new = all.filter { $0.manifest.map(isNew) ?? false }
        guard let first = new.map(\.sequence).min() else { return 0 }
        let generations = new.flatMap { $0.manifest?.generations ?? [] }.filter { $0.sequence >= decision.sequence }
        let kept = Set(generations.flatMap(\.state.parts)).union(new.map(\.sequence))
        let late = all.compactMap(\.manifest).filter { !isNew($0) }.flatMap { $0.generations.flatMap(\.state.parts) }
        let stale = all.filter { $0.manifest.map { !isNew($0) } ?? ($0.sequence < first) }.map(\.sequence)
        let doomed = Set(stale + late).subtracting(kept)
        try await delete(doomed.sorted(), in: streams.checkpoint)
        return doomed.count
    }
}

/// Assets.
extension StoredRoomDeletion {
    /// Those of some assets that other rooms name, in their logs or checkpoints, or the room itself since a decision.
    ///
    /// Reads all logs and the checkpoints of all rooms, unless there is nothing to look for.
    /// - Parameter onProgress: called with the number of partitions that are done.
    public func named(
        _ assets: Set<AssetID>, elsewhereThan decision: Decision, _ configuration: RoomConfiguration,
        onProgress: (Int) -> Void
    ) async throws(JournalError) -> Set<AssetID> {
        var named: Set<AssetID> = []
        for partition in 0..<partitions where !assets.subtracting(named).isEmpty {
            let streams = PartitionStreams(root: root, partition: partition)
            let log = try await jetStream.identity(ofLog: streams.log)
            for (room, manifest) in try await checkpoints.catalogue(of: partition, log: log).rooms
            where manifest.state != nil {
                let first = room == decision.room ? decision.sequence : 0
                let shown = try await self.assets(of: manifest, in: first..<UInt64.max, configuration)
                named.formUnion(shown.intersection(assets))
            }
            let own = "\(RoomAddress(root: root, partition: partition, room: decision.room))."
            // In other logs a decision takes all that came on a subject of the room, see ``records(before:)``.
            let first = partition == self.streams(of: decision.room).partition ? decision.sequence : .max
            for subject in try await subjects(under: "\(root).\(partition).*", in: streams) {
                let found = try await list(streams.log, subject) { message, metadata -> Set<AssetID>? in
                    guard !message.subject.hasPrefix(own) || metadata.streamSequence > first else { return nil }
                    let some = AssetID.named(in: message.copyPayload()).intersection(assets)
                    return some.isEmpty ? nil : some
                }
                for some in found { named.formUnion(some) }
            }
            onProgress(partition + 1)
        }
        return named
    }
}

extension AssetID {
    /// The names of assets in a message: all runs of 64 hexadecimal digits, as a name is written.
    static func named(in bytes: [UInt8]) -> Set<AssetID> {
        guard bytes.count >= 64 else { return [] }
        var ids: Set<AssetID> = []
        var run = 0
        for (place, byte) in bytes.enumerated() {
            let isDigit = 0x30...0x39 ~= byte || 0x61...0x66 ~= byte || 0x41...0x46 ~= byte
            run = isDigit ? run + 1 : 0
            guard run == 64 else { continue }
            let text = String(decoding: bytes[(place - 63)...place], as: UTF8.self)
            if let id = AssetID(hexadecimal: text) { ids.insert(id) }
            run = 0
        }
        return ids
    }
}
