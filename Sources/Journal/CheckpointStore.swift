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
    private static let partBytes = 512 << 10
    /// The most parts of a state: half a gigabyte.
    private static let maxParts = 1024
    /// The most manifests of a room that are read; the stream keeps fewer, unless an operator changed it.
    private static let maxHistory = 16

    private let root: String
    private let partitions: Int
    private let readsCopies: Bool
    private let jetStream: JetStream
    private let logger: Logger

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

    private func streams(of partition: Int) -> PartitionStreams {
        PartitionStreams(root: root, partition: partition, areCopies: readsCopies)
    }

    private func streams(of room: RoomID) -> PartitionStreams {
        streams(of: RoomAddress.partition(of: room, among: partitions))
    }
}

/// Writing.
extension CheckpointStore {
    /// Writes a room's state, part by part, each acknowledged. It counts when a manifest names it; when that is
    /// acknowledged, ``discard(_:room:)`` the state that no manifest names any more.
    ///
    /// - Parameter stored: the room's newest manifest, from ``newest(notBeyond:)``: the parts go to a slot that
    ///   neither of its generations uses.
    /// - Returns: the state for the manifest.
    /// - Throws: `.checkpointTooLarge`; `.stream` when JetStream does not store a part.
    public func save(
        state bytes: [UInt8], room: RoomID, beside stored: CheckpointManifest?
    ) async throws(JournalError) -> CheckpointManifest.State {
        let size = min(Self.partBytes, jetStream.connection.maxBody)
        let count = (bytes.count + size - 1) / size
        guard count <= Self.maxParts else { throw .checkpointTooLarge(bytes: bytes.count) }
        let streams = streams(of: room)
        let slot = stored?.freeSlot ?? 0
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
    /// - Throws: `.superseded` when a stored manifest contains more records: a daemon that was stopped for a while must
    ///   not replace what another has saved since.
    public func save(_ manifest: CheckpointManifest) async throws(JournalError) {
        _ = try await write(manifest) { _ in manifest }
    }

    /// Writes where a room's cohorts stand, beside the state that is stored, and waits until it is acknowledged.
    /// - Parameters:
    ///   - manifest: without a state.
    ///   - known: the manifest that the caller has written or read last.
    /// - Returns: the manifest as it was written.
    /// - Throws: `.superseded` when a stored manifest contains more records.
    public func save(
        cursors manifest: CheckpointManifest, after known: CheckpointManifest?
    ) async throws(JournalError) -> CheckpointManifest {
        try await write(manifest) { newest in
            var manifest = manifest
            manifest.keepState(of: known, or: newest)
            return manifest
        }
    }

    /// Writes a manifest behind the one that was written last, if that contains no more.
    ///
    /// Another daemon may write between the look and the writing. So the writer looks at what lies between: what contains more is
    /// written again, and is the last. The server could compare, by `Nats-Expected-Last-Subject-Sequence`: but nats-server 2.9
    /// keeps that header, and refuses to copy the message to another stream.
    /// - Parameter complete: gives the manifest, beside the one that was written last.
    private func write(
        _ manifest: CheckpointManifest, _ complete: (CheckpointManifest?) -> CheckpointManifest
    ) async throws(JournalError) -> CheckpointManifest {
        let streams = streams(of: manifest.room)
        let subject = streams.manifest(of: manifest.room)
        var last = try await last(notBeyond: manifest)
        var whole = complete(last.manifest)
        for _ in 0..<Self.attempts {
            let sequence = try await publish(whole.encoded(), to: subject, streams)
            var (newest, place) = (last.manifest, last.sequence)
            while let between = try await next(subject, after: place, streams), between.sequence < sequence {
                place = between.sequence
                let stored = try readable([between.payload], of: manifest.room, log: manifest.log).last
                guard let stored, stored.log == manifest.log else { continue }
                guard !manifest.isBehind(stored) else {
                    _ = try await publish(between.payload, to: subject, streams)
                    throw .superseded(room: manifest.room, by: stored.sequence)
                }
                newest = stored
            }
            let again = complete(newest)
            if again == whole { break }
            (whole, last) = (again, (newest, sequence))
        }
        return whole
    }

    private func next(
        _ subject: String, after sequence: UInt64, _ streams: PartitionStreams
    ) async throws(JournalError) -> StoredMessage? {
        do throws(JetStreamError) {
            return try await jetStream.nextMessage(streams.checkpoint, subject: subject, from: sequence + 1)
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }

    /// How often a manifest is written while others write manifests of the room.
    private static let attempts = 8

    /// The room's manifest that was written last; nil when there is none of that log, or when it is damaged.
    ///
    /// - Parameter manifest: the caller's, of the room and the log.
    /// - Throws: `.superseded` when the stored one contains more; `.newer` when a newer release has written it.
    public func newest(notBeyond manifest: CheckpointManifest) async throws(JournalError) -> CheckpointManifest? {
        try await last(notBeyond: manifest).manifest
    }

    /// - Returns: the room's manifest that was written last, and its sequence; 0 for none.
    private func last(
        notBeyond manifest: CheckpointManifest
    ) async throws(JournalError) -> (manifest: CheckpointManifest?, sequence: UInt64) {
        let (room, log) = (manifest.room, manifest.log)
        let streams = streams(of: room)
        let message: StoredMessage?
        do throws(JetStreamError) {
            message = try await jetStream.lastMessage(streams.checkpoint, subject: streams.manifest(of: room))
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        guard let message else { return (nil, 0) }
        guard let stored = try readable([message.payload], of: room, log: log).last, stored.log == log else {
            return (nil, message.sequence)
        }
        guard !manifest.isBehind(stored) else { throw .superseded(room: room, by: stored.sequence) }
        return (stored, message.sequence)
    }

    /// Writes a manifest that a room is restored from, beside those that count.
    /// - Returns: its sequence in the checkpoint stream, for ``RoomRestoration/checkpoint``.
    public func save(base manifest: CheckpointManifest) async throws(JournalError) -> UInt64 {
        let streams = streams(of: manifest.room)
        return try await publish(manifest.encoded(), to: streams.base(of: manifest.room), streams)
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
    /// ``NATSClient/JetStream/leaveDamagedFile(of:filler:)``. States that were saved before stay where they can be read.
    public func leaveDamagedFile(of partition: Int) async throws(JournalError) {
        let streams = streams(of: partition)
        do throws(JetStreamError) {
            guard
                try await jetStream.leaveDamagedFile(of: streams.checkpoint, filler: streams.checkpointFiller)
            else { return }
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        logger.error(
            "the checkpoints' file is damaged: what was stored there since cannot be read; they go on in another one",
            metadata: ["partition": "\(partition)"])
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
    private func publish(
        _ bytes: [UInt8], to subject: String, _ streams: PartitionStreams
    ) async throws(JournalError) -> UInt64 {
        do throws(JetStreamError) {
            return try await jetStream.publish(bytes, to: subject).sequence
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }
}

/// Reading.
extension CheckpointStore {
    /// The bytes of a state, checked by length and hash; nil, and logged, when a part is missing or damaged.
    public func bytes(
        of state: CheckpointManifest.State, room: RoomID
    ) async throws(JournalError) -> [UInt8]? {
        try await bytes(of: state, room: room, in: RoomAddress.partition(of: room, among: partitions))
    }

    func bytes(
        of state: CheckpointManifest.State, room: RoomID, in partition: Int
    ) async throws(JournalError) -> [UInt8]? {
        guard state.parts.count <= Self.maxParts else { return unusable(room, "it has too many parts") }
        let streams = streams(of: partition)
        var bytes: [UInt8] = []
        for (number, sequence) in state.parts.enumerated() {
            guard let part = try await part(sequence, streams),
                part.subject == streams.part(number, of: room, slot: state.slot)
            else { return unusable(room, "part \(number) is missing") }
            bytes += part.payload
            guard bytes.count <= state.bytes else { break }
        }
        guard bytes.count == state.bytes, FNV1a64.hash(bytes) == state.hash else {
            return unusable(room, "the parts do not match its hash")
        }
        return bytes
    }

    private func part(_ sequence: UInt64, _ streams: PartitionStreams) async throws(JournalError) -> StoredMessage? {
        do throws(JetStreamError) {
            return try await jetStream.message(streams.checkpoint, sequence)
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }

    private func unusable(_ room: RoomID, _ why: String) -> [UInt8]? {
        logger.warning("checkpoint cannot be used", metadata: ["room": "\(room)", "reason": "\(why)"])
        return nil
    }

    /// The best usable manifest that contains less than `better`, whose state turned out to be damaged; nil when there
    /// is none.
    public func manifest(before better: CheckpointManifest) async throws(JournalError) -> CheckpointManifest? {
        let stored = try await manifests(of: better.room)
        let usable = try readable(stored, of: better.room, log: better.log).filter { $0.log == better.log }
        return usable.prefix { $0 != better }.last
    }

    /// The best usable manifest of a room; nil when there is none.
    public func manifest(of room: RoomID, log: String) async throws(JournalError) -> CheckpointManifest? {
        try readable(try await manifests(of: room), of: room, log: log).last { $0.log == log }
    }

    /// The stored manifests of a room, the oldest first.
    private func manifests(of room: RoomID) async throws(JournalError) -> [[UInt8]] {
        let streams = streams(of: room)
        var bodies: [[UInt8]] = []
        var next: UInt64 = 1
        do throws(JetStreamError) {
            while bodies.count < Self.maxHistory,
                let message = try await jetStream.nextMessage(
                    streams.checkpoint, subject: streams.manifest(of: room), from: next)
            {
                bodies.append(message.payload)
                next = message.sequence + 1
            }
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        return bodies
    }
}

extension CheckpointStore {
    /// The best usable manifest of every room of a partition, which is the one that contains the most records. Rooms
    /// with damaged manifests are listed.
    ///
    /// Takes memory for three manifests per room.
    /// - Parameters:
    ///   - log: the `incarnationPrefix` of the present log. Rooms with manifests of other logs only are counted.
    ///   - timeout: the longest time without a message; reading all may take longer.
    /// - Throws: `.newer` when a newer release has written one; `.stream`, also when nothing came for `timeout`.
    public func catalogue(
        of partition: Int, log: String, timeout: Duration = .seconds(30)
    ) async throws(JournalError) -> CheckpointCatalogue {
        let streams = streams(of: partition)
        var catalogue = CheckpointCatalogue()
        for (subject, bodies) in try await manifests(in: streams, timeout) {
            if subject == streams.coverage {
                let coverages = try readable(bodies, log: log, in: streams, Coverage.init(decoding:))
                if let best = coverages.filter({ $0.log == log }).max(by: { $0.isBehind($1) }) {
                    (catalogue.covered, catalogue.rewinds) = (best.covered, best.rewinds ?? 0)
                }
                continue
            }
            guard let room = streams.room(ofManifest: subject) else { continue }
            let usable = try readable(bodies, of: room, log: log).filter { $0.log == log }
            // A damaged manifest may be one of this log.
            let isDamaged = bodies.contains { Self.isDamaged($0, room) }
            guard !usable.isEmpty || isDamaged else {
                catalogue.foreign += 1
                continue
            }
            if isDamaged {
                logger.warning("a checkpoint is damaged", metadata: ["room": "\(room)", "usable": "\(usable.count)"])
            }
            guard let best = usable.last else {
                catalogue.damaged.append(room)
                continue
            }
            catalogue.rooms[room] = best
            if isDamaged { catalogue.outdated.append(room) }
        }
        catalogue.damaged.sort { $0.text < $1.text }
        catalogue.outdated.sort { $0.text < $1.text }
        return catalogue
    }

    /// Whether bytes are no manifest of a room: neither one that can be decoded, nor a newer release's.
    private static func isDamaged(_ body: [UInt8], _ room: RoomID) -> Bool {
        do throws(CheckpointManifest.Unreadable) {
            return try CheckpointManifest(decoding: body).room != room
        } catch {
            return error == .damaged
        }
    }

    /// The manifests that can be decoded, of any log, the one that contains the most records last.
    /// - Throws: `.newer` when a newer release has written one for `log`.
    private func readable(_ bodies: [[UInt8]], of room: RoomID, log: String) throws(JournalError)
        -> [CheckpointManifest]
    {
        let streams = streams(of: room)
        let manifests = try readable(bodies, log: log, in: streams) { body throws(CheckpointManifest.Unreadable) in
            try CheckpointManifest(decoding: body)
        }
        return CheckpointManifest.ranked(manifests.filter { $0.room == room })
    }

    /// Decodes bodies. Damaged ones are left out, and those that a newer release has written for another log.
    private func readable<Value>(
        _ bodies: [[UInt8]], log: String, in streams: PartitionStreams,
        _ decode: ([UInt8]) throws(CheckpointManifest.Unreadable) -> Value?
    ) throws(JournalError) -> [Value] {
        var values: [Value] = []
        for body in bodies {
            do throws(CheckpointManifest.Unreadable) {
                if let value = try decode(body) { values.append(value) }
            } catch {
                guard case .newer(log, let what) = error else { continue }
                throw .newer(stream: streams.checkpoint, what: what)
            }
        }
        return values
    }

    /// All bodies of manifest subjects, in the order in which they were written.
    private func manifests(
        in streams: PartitionStreams, _ timeout: Duration
    ) async throws(JournalError) -> [String: [[UInt8]]] {
        // A copy has no subjects of its own, which a filter must be among.
        let settings = OrderedConsumerSettings(
            stream: streams.checkpoint, start: .sequence(1),
            filterSubject: streams.areCopies ? nil : streams.manifests)
        var found: [String: [[UInt8]]] = [:]
        do throws(JetStreamError) {
            try await jetStream.readToEnd(
                settings, logger: logger, timeout: timeout,
                decode: { message, _ in
                    let subject = message.subject
                    return subject.hasSuffix(".checkpoint") ? (subject, message.copyPayload()) : nil
                },
                take: { (manifest: (subject: String, body: [UInt8])) in
                    found[manifest.subject, default: []].append(manifest.body)
                })
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        return found
    }
}

/// The checkpoints of a partition.
public struct CheckpointCatalogue: Sendable, Equatable {
    /// The best usable manifest of each room.
    public var rooms: [RoomID: CheckpointManifest] = [:]
    /// Rooms with a damaged manifest that may have been a better one: their records are needed from the best usable
    /// manifest's `sequence` on, whatever `covered` says.
    public var outdated: [RoomID] = []
    /// Rooms without a usable manifest.
    public var damaged: [RoomID] = []
    /// All records of the partition's log up to this one are in checkpoints; 0 when nothing is known.
    public var covered: UInt64 = 0
    /// How often the log has lost its end, as far as that was noticed.
    public var rewinds = 0
    /// The number of rooms with checkpoints of other logs only.
    public var foreign = 0

    /// No checkpoints.
    public init() {}
}
