import Foundation
import TestSupport

/// An operation of the model, which has to be released.
struct ModelOperation: Sendable {
    let index: UInt64
    let author: String
    let number: Int64
    /// Whether its number had been given up before it arrived.
    let isLate: Bool
    /// Index of the stroke that an undo or redo moves.
    let reference: UInt64?
    let digest: String
    /// Greatest media time of the operations through this one, in milliseconds: when it may be released.
    let gateTime: Double
    /// When the journal stored the record that completed it, in nanoseconds.
    let time: Int64
    /// The message as it was sent, or the shards in their order.
    let messages: [ModelMessage]
}

/// A number that the log gives up.
struct ModelGiveUp: Sendable {
    let author: String
    let number: Int64
    /// How long after the moment that the rules name; nil where they name none.
    let delay: Duration?
}

/// A model of a room, folded from the journal that JetStream returns. Written from the protocol's pages alone, and simple
/// enough to be checked by reading.
struct ModelRoom {
    private(set) var operations: [ModelOperation] = []
    private(set) var authors: [String: ModelAuthor] = [:]
    private(set) var giveUps: [ModelGiveUp] = []
    private(set) var board: ModelBoard
    private var lastClear: UInt64 = 0
    private var gateTime = -Double.infinity
    /// Sequence of the room's first message: the last part of its incarnation.
    private(set) var firstSequence: UInt64?

    var digest: String { plainDigestText(board.visible) }
    var isPending: Bool { authors.values.contains { $0.isPending } }
    private var head: UInt64 { UInt64(operations.count) }

    init(_ records: [StoredRecord], room: String, areClearsFinal: Bool = false) throws {
        board = ModelBoard(clearsAreFinal: areClearsFinal)
        for record in records {
            let tokens = record.subject.split(separator: ".").map(String.init)
            guard tokens.count >= 4, tokens[2] == room else { continue }
            if tokens[3] == "ctl" {
                try decide(record.payload, at: record.time)
            } else {
                firstSequence = firstSequence ?? record.sequence
                try receive(record.payload, from: tokens[4], at: record.time)
            }
        }
    }

    private mutating func receive(_ bytes: [UInt8], from name: String, at time: Int64) throws {
        let message = try ModelMessage(bytes)
        var author = authors[name] ?? ModelAuthor()
        if let late = author.receive(message, at: time, lastClear: lastClear) {
            apply(late, &author, name, isLate: true, at: time)
        }
        advance(&author, name, at: time)
        authors[name] = author
    }

    private struct Decision: Decodable {
        let kind: String
        let author: String?
        let from: Int64?
        let to: Int64?
    }

    private mutating func decide(_ bytes: [UInt8], at time: Int64) throws {
        let decision = try JSONDecoder().decode(Decision.self, from: Data(bytes))
        guard decision.kind == "gave-up", let name = decision.author, let from = decision.from, let to = decision.to,
            var author = authors[name]
        else { return }
        for number in author.giveUp(from, to, head: head) {
            let due = author.giveUpDue(number, by: time)
            giveUps.append(ModelGiveUp(author: name, number: number, delay: due.map { .nanoseconds(time - $0) }))
        }
        advance(&author, name, at: time)
        authors[name] = author
    }

    private mutating func advance(_ author: inout ModelAuthor, _ name: String, at time: Int64) {
        while let next = author.next() { apply(next, &author, name, isLate: false, at: time) }
    }

    private mutating func apply(
        _ whole: (number: Int64, shards: [ModelMessage]), _ author: inout ModelAuthor, _ name: String, isLate: Bool,
        at time: Int64
    ) {
        let index = head + 1
        var reference: UInt64?
        switch whole.shards[0].action {
        case .draw: board.draw(index, by: name)
        case .undo:
            reference = board.undo(by: name)
            if reference == nil { return author.settle(whole.number, .rejected) }
        case .redo:
            reference = board.redo(by: name)
            if reference == nil { return author.settle(whole.number, .rejected) }
        case .clear:
            board.clear(index)
            lastClear = index
        }
        author.settle(whole.number, .applied(index))
        gateTime = max(gateTime, whole.shards.map(\.time).max() ?? gateTime)
        operations.append(
            ModelOperation(
                index: index, author: name, number: whole.number, isLate: isLate, reference: reference,
                digest: digest, gateTime: gateTime, time: time, messages: whole.shards))
    }
}

/// The numbers of one author, in the single sequence that tests use (wire.md, "Order and loss").
struct ModelAuthor {
    enum Outcome: Equatable {
        case applied(UInt64)
        case rejected
    }

    private enum NumberState {
        case assembling([ModelMessage])
        case complete([ModelMessage])
        /// Index of the log's last operation when it was given up, and the shards that have arrived.
        case givenUp(head: UInt64, [ModelMessage])
        case settled(Outcome)
    }

    private var states: [Int64: NumberState] = [:]
    /// When the messages of each number came, repeats left out, in nanoseconds.
    private var arrivals: [Int64: [Int64]] = [:]
    private var expected: Int64?

    /// Outcome of each number that was applied or rejected.
    var outcomes: [Int64: Outcome] {
        states.compactMapValues { if case .settled(let outcome) = $0 { outcome } else { nil } }
    }

    /// Whether any number waits.
    var isPending: Bool { !open.isEmpty }

    /// The numbers that wait, with what they wait for.
    var open: [Int64: String] {
        states.compactMapValues { state in
            switch state {
            case .assembling(let shards): "assembling, \(shards.count) of \(shards[0].shardCount)"
            case .complete: "complete"
            case .givenUp(_, let shards): shards.isEmpty ? nil : "given up, \(shards.count) of \(shards[0].shardCount)"
            case .settled: nil
            }
        }
    }

    /// - Returns: the late operation that the message completes, if any.
    mutating func receive(
        _ message: ModelMessage, at time: Int64, lastClear: UInt64
    ) -> (number: Int64, shards: [ModelMessage])? {
        if expected == nil { expected = message.number }
        switch states[message.number] {
        case .settled, .complete: return nil
        case .givenUp(let head, let shards):
            guard message.isAcceptable, message.action == .draw, lastClear <= head else {
                states[message.number] = .settled(.rejected)
                return nil
            }
            let all = Self.adding(message, to: shards)
            states[message.number] = .givenUp(head: head, all)
            return Self.isWhole(all) ? (message.number, all) : nil
        case .assembling(let shards):
            let all = Self.adding(message, to: shards)
            if all.count > shards.count { arrivals[message.number, default: []].append(time) }
            update(message, all)
        case nil:
            arrivals[message.number, default: []].append(time)
            update(message, [message])
        }
        return nil
    }

    private mutating func update(_ message: ModelMessage, _ shards: [ModelMessage]) {
        if !message.isAcceptable {
            states[message.number] = .settled(.rejected)
        } else {
            states[message.number] = Self.isWhole(shards) ? .complete(shards) : .assembling(shards)
        }
    }

    /// The next operation in order, if it is whole.
    mutating func next() -> (number: Int64, shards: [ModelMessage])? {
        while let number = expected {
            switch states[number] {
            case .settled, .givenUp: expected = number + 1
            case .complete(let shards):
                expected = number + 1
                return (number, shards)
            case .assembling, nil: return nil
            }
        }
        return nil
    }

    mutating func settle(_ number: Int64, _ outcome: Outcome) {
        states[number] = .settled(outcome)
    }

    /// When the rules give a number up that is not settled: 2 s after the first operation behind it became complete, 10 s
    /// after its last shard where nothing is behind it. A shard that came while the decision was on its way to the
    /// journal does not count.
    /// - Returns: nil for never.
    func giveUpDue(_ number: Int64, by time: Int64) -> Int64? {
        let behind = states.compactMap { other, state -> Int64? in
            guard other > number, case .complete = state else { return nil }
            return arrivals[other]?.last
        }
        if let first = behind.min() { return first + 2_000_000_000 }
        let shards = arrivals[number] ?? []
        return (shards.last { $0 + Self.transit < time } ?? shards.first).map { $0 + 10_000_000_000 }
    }

    private static let transit: Int64 = 2_000_000_000

    /// - Returns: the numbers that are given up.
    mutating func giveUp(_ from: Int64, _ to: Int64, head: UInt64) -> [Int64] {
        let waiting = states.filter { number, state in
            switch state {
            case .assembling, .complete: number >= expected ?? 0
            case .givenUp, .settled: false
            }
        }
        guard let last = waiting.keys.max(), let expected, max(from, expected) <= min(to, last) else { return [] }
        var given: [Int64] = []
        for number in max(from, expected)...min(to, last) {
            switch states[number] {
            case nil: states[number] = .givenUp(head: head, [])
            case .assembling(let shards): states[number] = .givenUp(head: head, shards)
            case .complete, .givenUp, .settled: continue
            }
            given.append(number)
        }
        return given
    }

    private static func adding(_ message: ModelMessage, to shards: [ModelMessage]) -> [ModelMessage] {
        guard message.isSharded, !shards.contains(where: { $0.shardOrder == message.shardOrder }) else {
            return message.isSharded ? shards : [message]
        }
        return (shards + [message]).sorted { $0.shardOrder < $1.shardOrder }
    }

    private static func isWhole(_ shards: [ModelMessage]) -> Bool {
        guard let first = shards.first else { return false }
        return !first.isSharded || shards.count == first.shardCount
    }
}

/// An author's message, decoded with Foundation alone: the product's decoder must not judge the product.
struct ModelMessage: Sendable {
    struct Point: Sendable, Equatable, Decodable {
        let x: Double
        let y: Double
    }

    enum Action: Int, Sendable {
        case draw = 1
        case undo, redo, clear
    }

    let number: Int64
    let shardCount: Int
    let shardOrder: Int
    let element: Int
    let action: Action
    /// Media time in milliseconds.
    let time: Double
    let points: [Point]
    let bytes: [UInt8]
    /// Whether the service accepts it. The only fault that tests send is an unknown element.
    let isAcceptable: Bool

    var isSharded: Bool { shardCount > 1 && action == .draw }

    private struct Wire: Decodable {
        let n: Int64
        let s: Int?
        let o: Int?
        let e: Int?
        let a: Int?
        let t: Double
        let d: [Point]?
    }

    init(_ bytes: [UInt8]) throws {
        self.init(try JSONDecoder().decode(Wire.self, from: Data(bytes)), bytes)
    }

    private init(_ wire: Wire, _ bytes: [UInt8]) {
        number = wire.n
        shardCount = wire.s ?? 0
        shardOrder = wire.o ?? 0
        element = wire.e ?? 0
        action = Action(rawValue: wire.a ?? 1) ?? .draw
        time = wire.t
        points = wire.d ?? []
        self.bytes = bytes
        isAcceptable = (0...4).contains(element)
    }
}

/// A message within another body; its bytes are not known.
extension ModelMessage: Decodable {
    init(from decoder: any Decoder) throws {
        self.init(try Wire(from: decoder), [])
    }
}
