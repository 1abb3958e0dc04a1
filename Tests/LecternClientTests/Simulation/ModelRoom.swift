import StrokeWire
import TestSupport
import Whiteboard

@testable import LecternClient

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
    private(set) var boards: [PlainBoard]
    /// Longest tail, in operations.
    private let tail: Int
    private var random: TestSupport.SeededGenerator

    init?(room: String, isClearUndoable: Bool, tail: Int, seed: UInt64) {
        guard let author = AuthorID("ann") else { return nil }
        self.room = room
        self.author = author
        boards = [PlainBoard(HistoryConfiguration(clear: isClearUndoable ? .undoable : .final))]
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
            room: index == 0 ? "" : room, index: cursor, digest: board.boardDigest, palette: .standard,
            style: "pen")
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

extension PlainBoard {
    var boardDigest: BoardDigest { BoardDigest(value: digest) }
}
