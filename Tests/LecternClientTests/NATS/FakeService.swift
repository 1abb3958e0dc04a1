import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Synchronization
import Testing

/// The service's side of a room over NATS, as far as a client sees it: answers authors, releases operations, answers
/// joins. What a client must do in disorder is tested in virtual time.
final class FakeService: Sendable {
    let connection: NATSConnection
    let address: RoomAddress
    private let room: Mutex<(model: ModelRoom, cursor: UInt64)>
    private let applied = Mutex<(next: UInt64, byMessage: [String: UInt64], headers: [[String?]])>((0, [:], []))
    /// How many messages have come in, each time one does.
    let arrivals: AsyncStream<Int>
    private let arrival: AsyncStream<Int>.Continuation
    /// Messages, by their count, that are received and not answered.
    private let ignored: Set<Int>

    private init(_ connection: NATSConnection, _ address: RoomAddress, room: ModelRoom, ignoring: Set<Int> = []) {
        self.connection = connection
        self.address = address
        self.room = Mutex((room, 0))
        ignored = ignoring
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    /// Runs a body with a service, and with a client's connection.
    static func with(
        _ server: NATSTestServer, room: ModelRoom, ignoring: Set<Int> = [],
        _ body: @Sendable (FakeService, NATSConnection) async throws -> Void
    ) async throws {
        try await NATSConnection.with(server) { connection in
            let service = FakeService(connection, try Wire.address(), room: room, ignoring: ignoring)
            try service.serve()
            try await connection.flush()
            try await NATSConnection.with(server) { try await body(service, $0) }
        }
    }

    /// Session and message id of each message that came in.
    var headers: [[String?]] { applied.withLock { $0.headers } }

    private func serve() throws {
        let author = try #require(AuthorID("ann"))
        try connection.subscribe(address.subject(.input(author))) { [self] message in
            answer(message, to: address.subject(.feedback(author)))
        }
        try connection.subscribe(address.subject(.join(.main))) { [self] message in
            guard let reply = message.reply, let request = try? JoinRequest(decoding: message.copyPayload()) else {
                return
            }
            let encoded = room.withLock { $0.model.encodedReply(to: request, at: $0.cursor) }
            try? connection.publish(encoded, to: reply)
        }
    }

    /// Each operation gets the next index with its last shard; a repeat gets its answer again.
    private func answer(_ message: borrowing NATSMessage, to subject: String) {
        let bytes = message.copyPayload()
        let headers = [message.header(HeaderName.session), message.header(HeaderName.msgID)]
        guard let header = try? StrokeMessage(decoding: bytes) else { return }
        let index: UInt64? = applied.withLock { state in
            state.headers.append(headers)
            arrival.yield(state.headers.count)
            guard !ignored.contains(state.headers.count) else { return nil }
            guard !header.isSharded || header.shardOrder == header.shardCount - 1 else { return nil }
            if let known = state.byMessage["\(header.number)"] { return known }
            state.next += 1
            state.byMessage["\(header.number)"] = state.next
            return state.next
        }
        guard let index else { return }
        try? connection.publish(Feedback.applied(number: header.number, index: index).encoded(), to: subject)
    }

    /// Releases the next operation.
    /// - Parameter isLost: whether it goes nowhere.
    func release(isLost: Bool = false) throws {
        room.withLock { $0.cursor += 1 }
        if !isLost { try releaseAgain() }
    }

    /// Publishes the last released operation, maybe once more.
    func releaseAgain() throws {
        for message in try room.withLock({ try $0.model.released($0.cursor, pointsPerShard: 3) }) {
            var headers: NATSHeaders = [
                HeaderName.index: "\(message.index)", HeaderName.room: message.room,
                HeaderName.author: message.author.text, HeaderName.digest: message.digest.description,
            ]
            if let reference = message.reference { headers.append(HeaderName.ref, "\(reference)") }
            try connection.publish(message.bytes, to: address.subject(.out(.main)), headers: headers)
            try connection.publish(message.bytes, to: address.subject(.head), headers: headers)
        }
    }

    /// Says where the cohort stands.
    func mark() throws {
        let mark = room.withLock { state in
            Mark(
                room: state.model.room, index: state.cursor,
                digest: state.model.boards[Int(state.cursor)].digest, video: nil)
        }
        try connection.publish(mark.encoded(), to: address.subject(.mark(.main)))
    }

    /// The board as released.
    var digest: BoardDigest { room.withLock { $0.model.boards[Int($0.cursor)].digest } }
}
