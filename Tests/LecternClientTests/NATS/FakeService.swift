// The client over a real nats-server. The other side is a service that does as the test says, or nobody.

import NATSClient
import NATSTestServer
import StrokeWire
import Synchronization
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore
@testable import LecternClient

/// The service's side of a room over NATS: answers authors, releases operations, replies to joins. Disorder is tested
/// in virtual time.
final class FakeService: Sendable {
    let connection: NATSConnection
    let address: RoomAddress
    private let room: Mutex<(model: ModelRoom, cursor: UInt64)>
    private let applied = Mutex<(next: UInt64, byMessage: [String: UInt64], headers: [[String?]])>((0, [:], []))
    /// The number of received messages, at each message.
    let arrivals: AsyncStream<Int>
    private let arrival: AsyncStream<Int>.Continuation
    /// Positions of the messages that get no answer.
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

    /// The same on a server of its own.
    static func with(
        room: ModelRoom, _ body: @Sendable (NATSTestServer, FakeService, NATSConnection) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { server in try await with(server, room: room) { try await body(server, $0, $1) }
        }
    }

    /// Session and message id of each message that came in.
    var headers: [[String?]] { applied.withLock { $0.headers } }

    private func serve() throws {
        let author = try #require(AuthorID("ann"))
        try connection.subscribe(address.subject(.input(author))) { [self] message in
            answer(message, to: address.subject(.feedback(author)))
        }
        for subject in [RoomSubject.join(.main), .joinHead].map(address.subject) {
            try connection.subscribe(subject) { [self] message in
                guard let reply = message.reply, let request = try? JoinRequest(decoding: message.copyPayload()) else {
                    return
                }
                let encoded = room.withLock { $0.model.encodedReply(to: request, at: $0.cursor) }
                try? connection.publish(encoded, to: reply)
            }
        }
    }

    /// Gives an operation the next index at its last shard; repeats the answer for a repeat.
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
    /// - Parameter isLost: whether its messages are lost.
    func release(isLost: Bool = false) throws {
        room.withLock { $0.cursor += 1 }
        if !isLost { try releaseAgain() }
    }

    /// Publishes the last released operation again.
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

    /// Publishes a mark.
    func mark() throws {
        let mark = room.withLock { state in
            Mark(
                room: state.model.room, index: state.cursor,
                digest: state.model.boards[Int(state.cursor)].boardDigest, video: nil)
        }
        try connection.publish(mark.encoded(), to: address.subject(.mark(.main)))
    }

    /// Digest of the cohort's board.
    var digest: BoardDigest { room.withLock { $0.model.boards[Int($0.cursor)].boardDigest } }
}

/// The stream of a partition's log, as a daemon creates it.
enum JournalStream {
    struct Stored: Sendable, Equatable {
        let messageID: String
        let bytes: [UInt8]
    }

    static let name = "INK_LOG_0"

    /// Creates the stream.
    static func create(
        over connection: NATSConnection, _ configure: (inout StreamConfiguration) -> Void = { _ in }
    ) async throws {
        var stream = StreamConfiguration(name: name, subjects: ["ink.0.*.in.*", "ink.0.*.ctl"])
        stream.discard = .new
        configure(&stream)
        _ = try await JetStream(connection).provision(stream)
    }

    /// Its messages in order.
    static func read(over connection: NATSConnection) async throws -> [Stored] {
        var stored: [Stored] = []
        let settings = OrderedConsumerSettings(stream: name, start: 1)
        try await JetStream(connection).readToEnd(
            settings, logger: .silent,
            decode: { message, _ in
                Stored(messageID: message.header(HeaderName.msgID) ?? "", bytes: message.copyPayload())
            }, take: { stored.append($0) })
        return stored
    }

    /// Records the sizes of authors' messages, stored or not.
    static func arrivals(over connection: NATSConnection) async throws -> Recorder<Int> {
        let arrivals = Recorder<Int>()
        try connection.subscribe("ink.0.*.in.*") { arrivals.append($0.payloadSize) }
        try await connection.flush()
        return arrivals
    }
}

/// Helpers of tests over a real NATS server.
enum Wire {
    /// An established connection.
    static func connect(_ server: NATSTestServer) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: server.url, name: "test"), logger: .silent)
        try await connection.connect()
        return connection
    }

    static func address() throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID("lesson-7")), partitions: 1)
    }
}

/// A plain model of a room: the log with the board after each operation, so that it can reply
/// to a join at any index.
struct ModelRoom {
    struct Operation {
        let action: Action
        let reference: UInt64?
        let bytes: [UInt8]
    }

    let room: String
    let author: AuthorID
    private(set) var operations: [Operation] = []
    /// `boards[i]` is the board after operation i.
    private(set) var boards: [ModelBoard]
    /// Longest tail, in operations.
    private let tail: Int
    private var random: TestSupport.SeededGenerator

    init?(room: String, isClearUndoable: Bool, tail: Int, seed: UInt64) {
        guard let author = AuthorID("ann") else { return nil }
        self.room = room
        self.author = author
        boards = [ModelBoard(HistoryConfiguration(clear: isClearUndoable ? .undoable : .final))]
        self.tail = tail
        random = TestSupport.SeededGenerator(seed: seed)
    }

    var index: UInt64 { UInt64(operations.count) }

    /// Applies a random valid operation.
    mutating func act() {
        guard var board = boards.last else { return }
        let index = index + 1
        var reference: UInt64?
        let action: Action
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5 where !board.undoStack.isEmpty:
            action = .undo
            reference = board.undo(by: author.text)
        case 5..<8 where !board.redoStack.isEmpty:
            action = .redo
            reference = board.redo(by: author.text)
        case 8:
            action = .clear
            board.clear(index)
        default:
            action = .draw
            board.draw(index, by: author.text)
        }
        operations.append(Operation(action: action, reference: reference, bytes: message(action, index)))
        boards.append(board)
    }

    private mutating func message(_ action: Action, _ index: UInt64) -> [UInt8] {
        let header = StrokeMessage(number: Int64(index), action: action, time: Int64(index))
        guard action == .draw else { return header.encoded(interior: []) }
        let points = (0..<Int.random(in: 1...8, using: &random)).map { StrokePoint(x: Double($0), y: Double(index)) }
        return header.encoded(interior: PointEncoder.interior(of: points)[...])
    }
}

extension ModelRoom {
    /// The messages of a released operation: one, or its shards.
    func released(_ index: UInt64, pointsPerShard: Int = .max) throws -> [ReleasedMessage] {
        let operation = operations[Int(index) - 1]
        let whole = try StrokeMessage(decoding: operation.bytes)
        let interior = operation.bytes[whole.points.interior]
        let messages =
            whole.points.count > pointsPerShard
            ? ShardCutter.cut(whole, interior: interior, pointsPerShard: pointsPerShard) : [operation.bytes]
        let headers: [String: String] = [
            HeaderName.index: "\(index)", HeaderName.room: room, HeaderName.author: author.text,
            HeaderName.digest: boards[Int(index)].boardDigest.description,
            HeaderName.ref: "\(operation.reference ?? 0)",
        ]
        return try messages.map { bytes in
            try ReleasedMessage(bytes: bytes) { name in
                name == HeaderName.ref && operation.reference == nil ? nil : headers[name]
            }
        }
    }

    /// The reply to a join of a cohort at `cursor`, encoded and decoded.
    func reply(to request: JoinRequest, at cursor: UInt64) throws -> JoinReply {
        try JoinReply(decoding: encodedReply(to: request, at: cursor))
    }

    func encodedReply(to request: JoinRequest, at cursor: UInt64) -> [UInt8] {
        let board = boards[Int(cursor)]
        let writer = JoinReplyWriter(
            room: index == 0 ? "" : room, index: cursor, digest: board.boardDigest, palette: .standard, style: "pen")
        if let have = request.have, request.incarnation == room, cursor <= have || cursor - have <= UInt64(tail) {
            return writer.tail(
                cursor <= have
                    ? []
                    : (have + 1...cursor).map { index in
                        var joined = joined(index)
                        joined.digest = boards[Int(index)].boardDigest
                        return joined
                    })
        }
        return writer.board(
            width: 1024, height: 768, visible: board.visible.map(joined),
            redo: board.redoStack.map { joined($0.index) },
            cleared: board.undoStack.compactMap { entry in
                guard case .clear(let clear, let took) = entry else { return nil }
                return ClearedBoard(index: clear, visible: took.map(joined))
            })
    }

    private func joined(_ index: UInt64) -> JoinedOperation {
        let operation = operations[Int(index) - 1]
        return JoinedOperation(
            index: index, author: author, reference: operation.reference, message: operation.bytes[...])
    }
}

extension ModelBoard {
    var boardDigest: BoardDigest { BoardDigest(value: digest) }
}
