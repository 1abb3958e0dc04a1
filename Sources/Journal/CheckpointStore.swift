public import Hosting
public import Logging
public import NATSClient
public import StrokeWire
import Whiteboard

/// The checkpoints of rooms, in the partitions' streams `<ROOT>_CHECKPOINT_<p>`, which `JetStreamJournal.provision`
/// creates.
///
/// A checkpoint is a manifest, on `<address>.checkpoint`, and the parts of the room's state, on
/// `<address>.checkpoint.<slot>.<i>`. The parts are written first, so a stored manifest names stored parts. It names
/// two generations of the state, in different slots. The next state is written to the third slot: a save that fails,
/// however often, harms neither. The oldest generation is deleted when the next manifest is acknowledged.
///
/// A value; any thread.
public struct CheckpointStore: Sendable {
    /// The most bytes of a part; fewer where the server's limit is lower.
    static let partBytes = 512 << 10
    /// The most parts of a state: half a gigabyte.
    static let maxParts = 1024

    let root: String
    let partitions: Int
    let readsCopies: Bool
    let jetStream: JetStream
    let own = WrittenRecords()
    let logger: Logger

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - partitions: the number of partitions.
    ///   - timeout: of each request to JetStream.
    public init(
        root: String, partitions: Int, connection: NATSConnection, timeout: Duration = .seconds(5), logger: Logger
    ) {
        self.init(
            root: root, partitions: partitions, readsCopies: false, connection: connection, timeout: timeout,
            logger: logger)
    }

    /// - Parameter readsCopies: reads the copies of the streams, see ``PartitionStreams/areCopies``; nothing is written.
    init(
        root: String, partitions: Int, readsCopies: Bool, connection: NATSConnection, timeout: Duration, logger: Logger
    ) {
        self.root = root
        self.partitions = partitions
        self.readsCopies = readsCopies
        self.logger = logger
        jetStream = JetStream(connection, timeout: timeout)
    }

    func streams(of partition: Int) -> PartitionStreams {
        PartitionStreams(root: root, partition: partition, areCopies: readsCopies)
    }

    func streams(of room: RoomID) -> PartitionStreams {
        streams(of: RoomAddress.partition(of: room, among: partitions))
    }
}

/// Writing.
extension CheckpointStore {
    /// Writes a room's state, part by part, each acknowledged. It counts when a manifest names it; when that is
    /// acknowledged, ``discard(_:room:)`` the state that no manifest names any more.
    ///
    /// - Parameters:
    ///   - stored: the room's newest manifest, from ``newest(notBeyond:)``: the parts go to a slot that neither of its
    ///     generations uses.
    ///   - fallback: what the room was restored from, where its newest state cannot be read.
    /// - Returns: the state for the manifest.
    /// - Throws: `.checkpointTooLarge`; `.stream` when JetStream does not store a part.
    public func save(
        state bytes: [UInt8], room: RoomID, beside stored: CheckpointManifest?,
        _ fallback: CheckpointManifest.Fallback? = nil
    ) async throws(JournalError) -> CheckpointManifest.State {
        let size = min(Self.partBytes, jetStream.connection.maxBody)
        let count = (bytes.count + size - 1) / size
        guard count <= Self.maxParts else { throw .checkpointTooLarge(bytes: bytes.count) }
        let streams = streams(of: room)
        let slot = stored?.freeSlot(beside: fallback) ?? (fallback?.generation.state.slot == 0 ? 1 : 0)
        var parts: [UInt64] = []
        for number in 0..<count {
            let part = Array(bytes[number * size..<min(bytes.count, (number + 1) * size)])
            parts.append(try await publish(part, to: streams.part(number, of: room, slot: slot), streams))
        }
        var state = CheckpointManifest.State(parts: parts, bytes: bytes.count, hash: FNV1a64.hash(bytes), slot: slot)
        if let versions = RoomCheckpoint.versions(of: bytes) { (state.format, state.fold) = versions }
        return state
    }

    /// Writes a manifest and waits until it is acknowledged: then it is the room's checkpoint.
    ///
    /// - Returns: whether a manifest that was written before it is damaged. That one may have contained more records, and is
    ///   deleted soon: what the room has had since is to be saved until then.
    /// - Throws: `.superseded` when a stored manifest contains more records: a daemon that was stopped for a while must
    ///   not replace what another has saved since.
    @discardableResult
    public func save(_ manifest: CheckpointManifest) async throws(JournalError) -> Bool {
        try await write(manifest) { _ in manifest }.followsDamage
    }

    /// Writes where a room's cohorts stand, beside the state that is stored, and waits until it is acknowledged.
    /// - Parameters:
    ///   - manifest: without a state.
    ///   - known: the manifest that the caller has written or read last.
    /// - Returns: the manifest as it was written, and whether one before it is damaged.
    /// - Throws: `.superseded` when a stored manifest contains more records.
    public func save(
        cursors manifest: CheckpointManifest, after known: CheckpointManifest?
    ) async throws(JournalError) -> (manifest: CheckpointManifest, followsDamage: Bool) {
        try await write(manifest) { newest in
            var manifest = manifest
            manifest.keepState(of: known, or: newest)
            return manifest
        }
    }

    /// Writes a manifest behind the one that was written last, if that contains no more.
    ///
    /// Another daemon may write between the look and the writing. So the writer looks at what lies between: what contains
    /// most is written again if it contains more, and is the last. The server could compare, by
    /// `Nats-Expected-Last-Subject-Sequence`: but nats-server 2.9 keeps that header, and refuses to copy the message to another
    /// stream. Where all that lies between is this store's own there is nothing to look at: a room's cursors cost one request.
    /// - Parameter complete: gives the manifest, beside the one that was written last.
    private func write(
        _ manifest: CheckpointManifest, _ complete: (CheckpointManifest?) -> CheckpointManifest
    ) async throws(JournalError) -> (manifest: CheckpointManifest, followsDamage: Bool) {
        let streams = streams(of: manifest.room)
        let subject = streams.manifest(of: manifest.room)
        var last = try await known(notBeyond: manifest, streams)
        var whole = complete(last.manifest)
        var followsDamage = last.isDamaged
        for _ in 0..<Self.attempts {
            let sequence = try await publish(whole.encoded(), to: subject, streams)
            var newest = last.manifest
            let written = PlacedManifest(manifest: whole, sequence: sequence)
            if let from = own.take(written, of: manifest.room, in: streams.partition, after: last.sequence) {
                let between = try await manifests(of: manifest, from, sequence)
                if let best = between.best, manifest.isBehind(best.manifest) {
                    own.forget(manifest.room, of: streams.partition)
                    try await rewrite(best, behind: sequence)
                    throw .superseded(room: manifest.room, by: best.manifest.sequence)
                }
                newest = between.newest ?? newest
                followsDamage = followsDamage || between.hasDamage
            }
            let again = complete(newest)
            if again == whole { break }
            (whole, last) = (again, PlacedManifest(manifest: newest, sequence: sequence))
        }
        return (whole, followsDamage)
    }

    /// The manifest of a room that this store has written last, where it has; else the stored one.
    private func known(
        notBeyond manifest: CheckpointManifest, _ streams: PartitionStreams
    ) async throws(JournalError) -> PlacedManifest {
        guard let known = own.last(of: manifest.room, in: streams.partition, on: jetStream.connection.generation),
            let written = known.manifest, written.log == manifest.log
        else { return try await last(notBeyond: manifest) }
        guard !manifest.isBehind(written) else { throw .superseded(room: manifest.room, by: written.sequence) }
        return known
    }

    /// Forgets what it has written of a room that leaves memory.
    public func forget(_ room: RoomID) { own.forget(room, of: RoomAddress.partition(of: room, among: partitions)) }

    /// Forgets what it has written of a partition that another daemon serves from now on.
    public func forget(partition: Int) { own.forget(partition: partition) }

    /// Writes a manifest again that a lower one was written behind; or what contains more and was written meanwhile.
    private func rewrite(_ best: StoredManifest, behind sequence: UInt64) async throws(JournalError) {
        let streams = streams(of: best.manifest.room)
        var (best, place) = (best, sequence)
        for _ in 0..<Self.attempts {
            let again = try await publish(best.body, to: streams.manifest(of: best.manifest.room), streams)
            guard let better = try await manifests(of: best.manifest, place, again).best,
                best.manifest.isBehind(better.manifest)
            else { return }
            (best, place) = (better, again)
        }
    }

    /// The manifests of a room and a log that were written between two sequences of the checkpoint stream: the one that contains
    /// most, the last one, and whether one is damaged.
    private func manifests(
        of manifest: CheckpointManifest, _ first: UInt64, _ last: UInt64
    ) async throws(JournalError) -> (best: StoredManifest?, newest: CheckpointManifest?, hasDamage: Bool) {
        let streams = streams(of: manifest.room)
        var (best, newest, hasDamage): (StoredManifest?, CheckpointManifest?, Bool) = (nil, nil, false)
        var place = first
        while place + 1 < last, let stored = try await next(of: manifest.room, after: place, streams),
            stored.sequence < last
        {
            place = stored.sequence
            let read = try readable([stored.payload], of: manifest.room, log: manifest.log).last
            guard let read else {
                hasDamage = true
                continue
            }
            guard read.log == manifest.log else { continue }
            newest = read
            if best.map({ $0.manifest.isBehind(read) }) ?? true {
                best = StoredManifest(manifest: read, body: stored.payload)
            }
        }
        return (best, newest, hasDamage)
    }

    private func next(
        of room: RoomID, after sequence: UInt64, _ streams: PartitionStreams
    ) async throws(JournalError) -> StoredMessage? {
        return try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.nextMessage(
                streams.checkpoint, subject: streams.manifest(of: room), from: sequence + 1)
        }
    }

    /// How often a manifest is written while others write manifests of the room.
    private static let attempts = 8

    /// The room's manifest that was written last; nil when there is none of that log, or when it is damaged.
    ///
    /// - Parameter manifest: the caller's, of the room and the log.
    /// - Throws: `.superseded` when the stored one contains more, also where it is damaged and another daemon has saved records
    ///   that `manifest` lacks; `.newer` when a newer release has written it.
    public func newest(notBeyond manifest: CheckpointManifest) async throws(JournalError) -> CheckpointManifest? {
        try await last(notBeyond: manifest).manifest
    }

    /// The room's manifest that was written last; nil when there is none of that log, or when it is damaged.
    public func newest(of room: RoomID, log: String) async throws(JournalError) -> CheckpointManifest? {
        let streams = streams(of: room)
        let message = try await lastMessage(on: streams.manifest(of: room), streams)
        let newest = try readable(message.map { [$0.payload] } ?? [], of: room, log: log).last
        return newest?.log == log ? newest : nil
    }

    /// The room's manifest that was written last.
    private func last(notBeyond manifest: CheckpointManifest) async throws(JournalError) -> PlacedManifest {
        let (room, log) = (manifest.room, manifest.log)
        let streams = streams(of: room)
        let message = try await lastMessage(on: streams.manifest(of: room), streams)
        guard let message else { return PlacedManifest(manifest: nil, sequence: 0) }
        guard let stored = try readable([message.payload], of: room, log: log).last else {
            // It would bury what tells the next daemon to read them.
            if let record = try await coveredRecord(beyond: manifest) { throw .superseded(room: room, by: record) }
            return PlacedManifest(manifest: nil, sequence: message.sequence, isDamaged: true)
        }
        guard stored.log == log else { return PlacedManifest(manifest: nil, sequence: message.sequence) }
        guard !manifest.isBehind(stored) else { throw .superseded(room: room, by: stored.sequence) }
        return PlacedManifest(manifest: stored, sequence: message.sequence)
    }

    /// Writes a manifest that a room is restored from, beside those that count. One that is there already is not written again:
    /// few are kept, and a decision in the log may name it.
    /// - Returns: its sequence in the checkpoint stream, for ``RoomRestoration/checkpoint``.
    public func save(base manifest: CheckpointManifest) async throws(JournalError) -> UInt64 {
        let streams = streams(of: manifest.room)
        let subject = streams.base(of: manifest.room)
        let last = try await lastMessage(on: subject, streams)
        if let last, (try? CheckpointManifest(decoding: last.payload)) == manifest { return last.sequence }
        return try await publish(manifest.encoded(), to: subject, streams)
    }

    /// The manifest that a room is restored from; nil when it is not there any more or damaged.
    public func base(_ sequence: UInt64, of room: RoomID) async throws(JournalError) -> CheckpointManifest? {
        let streams = streams(of: room)
        guard let message = try await part(sequence, streams), message.subject == streams.base(of: room) else {
            return nil
        }
        return (try? CheckpointManifest(decoding: message.payload)).flatMap { $0.room == room ? $0 : nil }
    }

    /// Deletes the parts of a state that no manifest names any more, and overwrites them on disk: nothing of a room is left
    /// there when it is erased later. Parts that cannot be deleted expire by their age.
    public func discard(_ state: CheckpointManifest.State, room: RoomID) async {
        let streams = streams(of: room)
        for part in state.parts {
            do throws(JetStreamError) {
                try await jetStream.deleteMessage(streams.checkpoint, part, overwriting: true)
            } catch {
                logger.debug("cannot delete an old part", metadata: ["room": "\(room)", "error": "\(error)"])
                return
            }
        }
    }

    /// Has the stream go on in another file where what it stores cannot be read: see
    /// ``NATSClient/JetStream/leaveDamagedFile(of:filler:logger:)``. States that were saved before stay where they can be read.
    public func leaveDamagedFile(of partition: Int) async throws(JournalError) {
        let streams = streams(of: partition)
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.leaveDamagedFile(
                of: streams.checkpoint, filler: streams.checkpointFiller, logger: logger)
        }
    }

    /// Writes that all records of a partition up to `sequence` are in acknowledged checkpoints.
    /// - Parameters:
    ///   - log: the log's `incarnationPrefix`, because the log that replaces it counts from 1 again.
    ///   - rewinds: how often the log has lost its end: sequences are given out again then, and what was covered before counts
    ///     no longer, however much it was.
    public func save(
        covered sequence: UInt64, of partition: Int, log: String, rewinds: Int = 0
    ) async throws(JournalError) {
        let streams = streams(of: partition)
        let coverage = Coverage(log: log, covered: sequence, rewinds: rewinds)
        _ = try await publish(coverage.encoded(), to: streams.coverage, streams)
    }

    /// Without a `Nats-Msg-Id`: for a duplicate the server would return the sequence of a message that may be deleted
    /// by then.
    func publish(
        _ bytes: [UInt8], to subject: String, _ streams: PartitionStreams
    ) async throws(JournalError) -> UInt64 {
        let generation = jetStream.connection.generation
        let sequence = try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.publish(bytes, to: subject).sequence
        }
        own.add(sequence, to: streams.partition, on: generation)
        return sequence
    }
}

/// A manifest with its bytes, as they are stored.
private struct StoredManifest {
    let manifest: CheckpointManifest
    let body: [UInt8]
}
