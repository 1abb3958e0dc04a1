public import Hosting
import Logging
import NATSClient
public import StrokeWire
public import Whiteboard

/// Reading.
extension CheckpointStore {
    /// The most manifests of a room that are read; the stream keeps fewer, unless an operator changed it.
    private static let maxHistory = 16

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

    /// The room that a state restores; nil, and logged, when it is missing or damaged.
    /// - Throws: `.newer` if a newer release has written it.
    public func room(
        from state: CheckpointManifest.State, _ id: RoomID, _ configuration: RoomConfiguration,
        at now: @autoclosure () -> Instant, logClockAhead: Duration
    ) async throws(JournalError) -> Room? {
        guard let bytes = try await bytes(of: state, room: id) else { return nil }
        do throws(CheckpointError) {
            return try Room(
                restoring: bytes, configuration: configuration, at: now(), logClockAhead: logClockAhead)
        } catch {
            switch error {
            case .newerFormat, .newerFold: throw .newer(stream: "the room \(id)", what: "\(error)")
            case .damaged:
                logger.error("checkpoint unreadable", metadata: ["room": "\(id)", "error": "\(error)"])
                return nil
            }
        }
    }

    func part(_ sequence: UInt64, _ streams: PartitionStreams) async throws(JournalError) -> StoredMessage? {
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.message(streams.checkpoint, sequence)
        }
    }

    func lastMessage(on subject: String, _ streams: PartitionStreams) async throws(JournalError) -> StoredMessage? {
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.lastMessage(streams.checkpoint, subject: subject)
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
        return try await bodies(on: streams.manifest(of: room), streams)
    }

    /// What is stored on a subject, the oldest first.
    private func bodies(
        on subject: String, _ streams: PartitionStreams
    ) async throws(JournalError) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        var next: UInt64 = 1
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            while bodies.count < Self.maxHistory,
                let message = try await jetStream.nextMessage(streams.checkpoint, subject: subject, from: next)
            {
                bodies.append(message.payload)
                next = message.sequence + 1
            }
        }
        return bodies
    }

    /// The first record of a room that a manifest lacks though the partition's coverage includes it: another daemon has saved
    /// it. Nil for none.
    func coveredRecord(beyond manifest: CheckpointManifest) async throws(JournalError) -> UInt64? {
        let streams = streams(of: manifest.room)
        let coverages = try await bodies(on: streams.coverage, streams)
        guard let covered = try coverage(in: coverages, log: manifest.log, streams)?.covered,
            covered > manifest.sequence
        else { return nil }
        let address = RoomAddress(root: root, partition: streams.partition, room: manifest.room)
        var first: UInt64?
        try await onStream(streams.log) { () throws(JetStreamError) in
            for subject in ["\(address).in.*", address.subject(.control), "\(streams.moved(of: manifest.room))>"] {
                let record = try await jetStream.nextMessage(
                    streams.log, subject: subject, from: manifest.sequence + 1)
                if let record, record.sequence <= covered { first = min(first ?? .max, record.sequence) }
            }
        }
        return first
    }

    /// The coverage that counts.
    private func coverage(
        in bodies: [[UInt8]], log: String, _ streams: PartitionStreams
    ) throws(JournalError) -> Coverage? {
        try readable(bodies, log: log, in: streams, Coverage.init(decoding:)).values.filter { $0.log == log }
            .max { $0.isBehind($1) }
    }
}

extension CheckpointStore {
    /// The best usable manifest of every room of a partition, which is the one that contains the most records, with what notes
    /// say beyond it. Rooms with damaged manifests are listed.
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
        var notes: [CursorNote] = []
        for (subject, bodies) in try await manifests(in: streams, timeout) {
            if subject == streams.coverage {
                if let best = try coverage(in: bodies, log: log, streams) {
                    (catalogue.covered, catalogue.rewinds) = (best.covered, best.rewinds ?? 0)
                }
                continue
            }
            if streams.isOfCursors(subject) {
                notes += try self.notes(in: bodies, log: log, streams)
                continue
            }
            if let room = streams.room(ofDecision: subject) {
                let notes = bodies.compactMap { HashedJSON.decode(StoredRoomDeletion.Note.self, from: $0) }
                catalogue.erasures[room, default: []] += notes.filter { $0.log == log }.prefix(1)
                continue
            }
            guard let room = streams.room(ofManifest: subject) else { continue }
            let (manifests, isDamaged) = try read(bodies, of: room, log: log)
            let usable = manifests.filter { $0.log == log }
            if isDamaged {
                logger.warning("a checkpoint is damaged", metadata: ["room": "\(room)", "usable": "\(usable.count)"])
            }
            catalogue.add(usable, of: room, isDamaged: isDamaged)
        }
        catalogue.learn(notes)
        catalogue.damaged.sort { $0.text < $1.text }
        catalogue.outdated.sort { $0.text < $1.text }
        return catalogue
    }

    /// The manifests that can be decoded, of any log, the one that contains the most records last.
    /// - Throws: `.newer` when a newer release has written one for `log`.
    func readable(_ bodies: [[UInt8]], of room: RoomID, log: String) throws(JournalError)
        -> [CheckpointManifest]
    {
        try read(bodies, of: room, log: log).manifests
    }

    /// The same, and whether one is damaged: it can neither be decoded as a manifest of the room, nor is it a newer release's.
    private func read(
        _ bodies: [[UInt8]], of room: RoomID, log: String
    ) throws(JournalError) -> (manifests: [CheckpointManifest], isDamaged: Bool) {
        let streams = streams(of: room)
        let (manifests, isDamaged) = try readable(bodies, log: log, in: streams) {
            body throws(CheckpointManifest.Unreadable) in
            try CheckpointManifest(decoding: body)
        }
        let own = manifests.filter { $0.room == room }
        return (CheckpointManifest.ranked(own), isDamaged || own.count < manifests.count)
    }

    /// Decodes bodies. Damaged ones are left out, and those that a newer release has written for another log.
    func readable<Value>(
        _ bodies: [[UInt8]], log: String, in streams: PartitionStreams,
        _ decode: ([UInt8]) throws(CheckpointManifest.Unreadable) -> Value?
    ) throws(JournalError) -> (values: [Value], isDamaged: Bool) {
        var values: [Value] = []
        var isDamaged = false
        for body in bodies {
            do throws(CheckpointManifest.Unreadable) {
                if let value = try decode(body) { values.append(value) } else { isDamaged = true }
            } catch {
                if case .newer(log, let what) = error { throw .newer(stream: streams.checkpoint, what: what) }
                if error == .damaged { isDamaged = true }
            }
        }
        return (values, isDamaged)
    }

    /// All bodies of manifest subjects, in the order in which they were written; of copies those of decisions to erase, too.
    private func manifests(
        in streams: PartitionStreams, _ timeout: Duration
    ) async throws(JournalError) -> [String: [[UInt8]]] {
        // A copy has no subjects of its own, which a filter must be among.
        let settings = OrderedConsumerSettings(
            stream: streams.checkpoint, start: 1,
            filterSubject: streams.areCopies ? nil : streams.manifests)
        var found: [String: [[UInt8]]] = [:]
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            try await jetStream.readToEnd(
                settings, logger: logger, timeout: timeout,
                decode: { message, _ in
                    let subject = message.subject
                    let isMeant = subject.hasSuffix(".checkpoint") || streams.room(ofDecision: subject) != nil
                    return isMeant ? (subject, message.copyPayload()) : nil
                },
                take: { (manifest: (subject: String, body: [UInt8])) in
                    found[manifest.subject, default: []].append(manifest.body)
                })
        }
        return found
    }
}

/// The checkpoints of a partition.
public struct CheckpointCatalogue: Sendable, Equatable {
    /// The best usable manifest of each room, with what notes say beyond it.
    public var rooms: [RoomID: CheckpointManifest] = [:]
    /// What no manifest says yet: whoever opens the partition has to write it again, see ``CursorNotes``.
    public var notes: [CursorNote] = []
    /// Rooms with a damaged manifest that may have been a better one: their records are needed from the best usable
    /// manifest's `sequence` on, whatever `covered` says.
    public var outdated: [RoomID] = []
    /// Rooms without a usable manifest.
    public var damaged: [RoomID] = []
    /// All records of the partition's log up to this one are in checkpoints; 0 when nothing is known.
    public var covered: UInt64 = 0
    /// How often the log has lost its end, as far as that was noticed.
    public var rewinds = 0
    /// The notes of decisions to erase rooms; of copies alone.
    var erasures: [RoomID: [StoredRoomDeletion.Note]] = [:]
    /// The number of rooms with checkpoints of other logs only.
    public var foreign = 0

    /// No checkpoints.
    public init() {}

    /// Takes the manifests of a room for the partition's log, the best one last.
    /// - Parameter isDamaged: whether there is a damaged one, which may be of this log.
    mutating func add(_ usable: [CheckpointManifest], of room: RoomID, isDamaged: Bool) {
        guard let best = usable.last else {
            if isDamaged { damaged.append(room) } else { foreign += 1 }
            return
        }
        rooms[room] = best
        learn(usable.dropLast().map(CursorNote.init))
        if isDamaged { outdated.append(room) }
    }

    /// Takes what notes say of its rooms beyond their manifests.
    mutating func learn(_ notes: [CursorNote]) {
        for note in notes where rooms[note.room]?.learn(note) == true { self.notes.append(note) }
    }
}
