import Foundation
import TestSupport

/// A board as a client received it: the reply to a join, the first event of a stream, or `board.json`.
struct TrialBoard: Sendable, Decodable {
    struct Entry: Sendable, Decodable {
        let index: UInt64
        let author: String
        let message: ModelMessage
    }

    /// An operation of a tail.
    struct Operation: Sendable, Decodable {
        let index: UInt64
        let author: String
        let ref: UInt64?
        let late: Bool?
        let digest: String
        let message: ModelMessage
    }

    let room: String
    let index: UInt64
    let digest: String
    let visible: [Entry]?
    let redo: [Entry]?
    /// Of a tail, which has no board.
    let ops: [Operation]?

    init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(bytes))
    }

    /// The first difference from the board at the model's end, nil if there is none.
    func difference(from model: ModelRoom) -> String? {
        let last = UInt64(model.operations.count)
        if index != last { return "at \(index), not \(last)" }
        if digest != model.digest { return "digest \(digest), not \(model.digest)" }
        guard let visible, let redo else { return "no board" }
        if visible.map(\.index) != model.visible { return "other strokes are visible" }
        if redo.map(\.index) != model.redoStack { return "other strokes can be redone" }
        for entry in visible + redo {
            let operation = model.operations[Int(entry.index) - 1]
            if entry.author != operation.author { return "\(entry.index) is by \(entry.author)" }
            if let difference = Sighting.difference(entry.message, operation.messages) {
                return "\(entry.index): \(difference)"
            }
        }
        return nil
    }
}

/// What a client has been told of a room, in order, and where it stands.
struct TrialRecord: Sendable {
    enum Event: Sendable {
        case operation(Sighting)
        /// A board to begin with, or to begin anew with.
        case board(at: ContinuousClock.Instant, index: UInt64, digest: String, visible: [UInt64])
    }

    /// The room's incarnation, empty before its first operation.
    var room = ""
    var index: UInt64 = 0
    var hasBoard = false
    var events: [Event] = []
    /// Operations that came again.
    var repeats: [Sighting] = []
    /// The positions that were announced, each once.
    var marks: [UInt64: String] = [:]
    /// All incarnations that it was told.
    var rooms: Set<String> = []
    /// What is wrong with it at first sight.
    var faults: [String] = []

    /// Of what it was told last.
    var digest: String {
        switch events.last {
        case .operation(let sighting): sighting.digest
        case .board(_, _, let digest, _): digest
        case nil: ""
        }
    }

    /// Takes the next operation.
    mutating func append(_ sighting: Sighting) {
        index = sighting.index
        events.append(.operation(sighting))
    }

    /// Takes a board or a tail; keeps what it has where the reply is behind it.
    mutating func take(_ board: TrialBoard, at now: ContinuousClock.Instant) {
        if !board.room.isEmpty { rooms.insert(board.room) }
        if let ops = board.ops {
            for operation in ops where operation.index > index {
                if operation.index != index + 1 { faults.append("a tail goes on at \(operation.index) after \(index)") }
                append(
                    Sighting(
                        at: now, index: operation.index, author: operation.author, reference: operation.ref,
                        digest: operation.digest, isLate: operation.late ?? false, isTail: true,
                        content: .message(operation.message)))
            }
        } else if board.index > index || !hasBoard {
            index = board.index
            room = board.room
            events.append(
                .board(at: now, index: board.index, digest: board.digest, visible: (board.visible ?? []).map(\.index)))
        }
        hasBoard = true
    }
}
