import Foundation

/// An operation that has to be released, as the model has it.
struct ModelOperation: Sendable {
    let index: UInt64
    let author: String
    let number: Int64
    /// Whether it came after it had been given up.
    let isLate: Bool
    /// Index of the stroke that an undo or redo is about.
    let reference: UInt64?
    let digest: String
    /// The greatest media time through this operation, milliseconds: when it may be released.
    let gateTime: Double
    /// One message as it was sent, or several shards in their order.
    let messages: [ModelMessage]
}

/// What a room has to be, folded from the journal as JetStream gives it back: written from the protocol's pages alone,
/// and simple, so that it can be checked by reading.
struct ModelRoom {
    private(set) var operations: [ModelOperation] = []
    private(set) var authors: [String: ModelAuthor] = [:]
    private var board = ModelBoard()
    private var lastClear: UInt64 = 0
    private var gateTime = -Double.infinity
    /// Sequence of the room's first message: the end of the name of its life.
    private(set) var firstSequence: UInt64?

    var digest: String { board.digest }
    var isPending: Bool { authors.values.contains { $0.isPending } }
    private var head: UInt64 { UInt64(operations.count) }

    init(_ records: [StoredRecord], room: String) throws {
        for record in records {
            let tokens = record.subject.split(separator: ".").map(String.init)
            guard tokens.count >= 4, tokens[2] == room else { continue }
            if tokens[3] == "ctl" {
                try decide(record.payload)
            } else {
                firstSequence = firstSequence ?? record.sequence
                try receive(record.payload, from: tokens[4])
            }
        }
    }

    private mutating func receive(_ bytes: [UInt8], from name: String) throws {
        let message = try ModelMessage(bytes)
        var author = authors[name] ?? ModelAuthor()
        if let late = author.receive(message, lastClear: lastClear) {
            apply(late, &author, name, isLate: true)
        }
        advance(&author, name)
        authors[name] = author
    }

    private struct Decision: Decodable {
        let kind: String
        let author: String?
        let from: Int64?
        let to: Int64?
    }

    private mutating func decide(_ bytes: [UInt8]) throws {
        let decision = try JSONDecoder().decode(Decision.self, from: Data(bytes))
        guard decision.kind == "gave-up", let name = decision.author, let from = decision.from, let to = decision.to,
            var author = authors[name]
        else { return }
        author.giveUp(from, to, head: head)
        advance(&author, name)
        authors[name] = author
    }

    private mutating func advance(_ author: inout ModelAuthor, _ name: String) {
        while let next = author.next() { apply(next, &author, name, isLate: false) }
    }

    private mutating func apply(
        _ whole: (number: Int64, shards: [ModelMessage]), _ author: inout ModelAuthor, _ name: String, isLate: Bool
    ) {
        let index = head + 1
        var reference: UInt64?
        switch whole.shards[0].action {
        case .draw: board.draw(index)
        case .undo:
            reference = board.undoLast()
            if reference == nil { return author.settle(whole.number, .rejected) }
        case .redo:
            reference = board.redoLast()
            if reference == nil { return author.settle(whole.number, .rejected) }
        case .clear:
            board.clear()
            lastClear = index
        }
        author.settle(whole.number, .applied(index))
        gateTime = max(gateTime, whole.shards.map(\.time).max() ?? gateTime)
        operations.append(
            ModelOperation(
                index: index, author: name, number: whole.number, isLate: isLate, reference: reference,
                digest: board.digest, gateTime: gateTime, messages: whole.shards))
    }
}
