public import Hosting
import NATSClient
import StrokeWire
import Whiteboard

/// The notes of many rooms in one message, as ``CursorNotes`` has them.
extension CheckpointStore {
    /// No notes of a partition, in records as large as the server takes them.
    public func noNotes() -> CursorNotes {
        CursorNotes(slotBytes: min(Self.partBytes, jetStream.connection.maxBody) - CursorRecord.frame)
    }

    /// Writes the record of a slot and waits until it is acknowledged: it takes the place of the one before.
    ///
    /// Another daemon may write one beside it, after it has been replaced, or while it does not know yet that it was. Three are
    /// kept: whoever finds one of another between two of its own takes over what that says, and writes again.
    /// - Parameter place: the sequence of the record that this store wrote before; 0 where it does not know the last one.
    /// - Returns: its sequence, and what others have written since `place`.
    public func save(
        _ notes: [CursorNote], in slot: Int, of partition: Int, log: String, after place: UInt64
    ) async throws(JournalError) -> (sequence: UInt64, others: [CursorNote]) {
        let streams = streams(of: partition)
        let subject = streams.cursors(slot)
        let sequence = try await publish(CursorRecord(log: log, notes: notes).encoded(), to: subject, streams)
        // A stream that has lost its end counts from there again.
        var before = place < sequence ? place : 0
        guard before == 0 || !own.hasAll(between: before, sequence, in: partition) else { return (sequence, []) }
        var bodies: [[UInt8]] = []
        try await onStream(streams.checkpoint) { () throws(JetStreamError) in
            while let message = try await jetStream.nextMessage(
                streams.checkpoint, subject: subject, from: before + 1), message.sequence < sequence
            {
                bodies.append(message.payload)
                before = message.sequence
            }
        }
        return (sequence, try self.notes(in: bodies, log: log, streams))
    }

    /// What records say of the rooms of a log. A damaged one is passed over: those before it are seconds older.
    func notes(
        in bodies: [[UInt8]], log: String, _ streams: PartitionStreams
    ) throws(JournalError) -> [CursorNote] {
        try readable(bodies, log: log, in: streams, CursorRecord.init(decoding:)).values.filter { $0.log == log }
            .flatMap(\.notes)
    }
}

/// A message with notes.
struct CursorRecord: Equatable {
    static let version = 1
    /// More bytes than there are beside the notes.
    static let frame = 2048

    /// The `PartitionLog.incarnationPrefix` of the log that the notes' sequences belong to.
    var log: String
    var notes: [CursorNote]

    init(log: String, notes: [CursorNote]) {
        self.log = log
        self.notes = notes
    }

    func encoded() -> [UInt8] {
        HashedJSON.encode { json in
            json.append("log", string: log)
            json.append(key: "rooms") { json in
                for note in notes { json.append(key: note.room.text, note.append(to:)) }
            }
            json.append("version", integer: Self.version)
        }
    }

    /// Nil when the bytes are damaged.
    /// - Throws: `.newer` when a newer release wrote them.
    init?(decoding bytes: [UInt8]) throws(CheckpointManifest.Unreadable) {
        guard let json = try HashedJSON.object(of: bytes, "notes of rooms", upTo: Self.version),
            let record = try? CursorRecord(json)
        else { return nil }
        self = record
    }

    private init(_ json: JSONObject) throws(Rejection) {
        let rooms = try json.object("rooms").required("rooms")
        var notes: [CursorNote] = []
        for name in rooms.names.sorted() {
            let note = try rooms.object(name).required("rooms")
            notes.append(try CursorNote(note, of: RoomID(name).required("rooms")))
        }
        self.init(log: try json.requiredString("log", limit: 1024), notes: notes)
    }
}

extension CursorNote {
    fileprivate func append(to json: inout [UInt8]) {
        let cursors = cursors.inOrder
        json.append(clocksOf: cursors)
        json.append(cursors: cursors)
        json.append("handled", integer: handled)
        json.append("handledAt", integer: handledAt?.nanoseconds)
        json.append("incarnation", string: incarnation)
        json.append(pausesOf: cursors)
        json.append("quiet", bool: isQuiet)
        json.append("restorations", integer: restorations == 0 ? nil : restorations)
        json.append(videosOf: cursors)
    }

    fileprivate init(_ json: JSONObject, of room: RoomID) throws(Rejection) {
        self.init(
            room: room, incarnation: try json.requiredString("incarnation", limit: 1024),
            restorations: try json.integer("restorations") ?? 0,
            handled: try json.integer("handled").required("handled"),
            handledAt: try json.integer("handledAt").map(Instant.init(nanoseconds:)), cursors: try json.cursors(),
            isQuiet: try json.bool("quiet").required("quiet"))
    }
}
