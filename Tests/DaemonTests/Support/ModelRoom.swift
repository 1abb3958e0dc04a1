import Foundation
import StrokeWire
import TestSupport
import Whiteboard

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

/// A model of a room, folded from the journal that JetStream returns.
struct ModelRoom {
    /// What becomes of a number that is not given up for good.
    enum Outcome: Equatable {
        case applied(UInt64)
        case rejected
    }

    private(set) var operations: [ModelOperation] = []
    private(set) var giveUps: [ModelGiveUp] = []
    /// By author and number.
    private(set) var outcomes: [String: [Int64: Outcome]] = [:]
    private var authors: ModelAuthors
    /// The messages of each author's numbers, by their order among the shards.
    private var messages: [String: [Int64: [Int: ModelMessage]]] = [:]
    private var gateTime = -Double.infinity
    /// Sequence of the room's first message: the last part of its incarnation.
    private(set) var firstSequence: UInt64?

    var visible: [UInt64] { authors.board.visible }
    var redoStack: [UInt64] { authors.board.redoStack }
    var digest: String { digestText(authors.board.digest) }

    /// The numbers that wait for messages, of each author.
    var open: [String: [Int64]] {
        authors.authors.mapValues { author in
            author.parts.keys.filter { number in
                switch author.fates[number] {
                case nil, .gaveUp: true
                case .applied, .rejected: false
                }
            }.sorted()
        }.filter { !$0.value.isEmpty }
    }

    init(_ records: [StoredRecord], room: String, areClearsFinal: Bool = false) throws {
        authors = ModelAuthors(clearsAreFinal: areClearsFinal)
        for record in records {
            let tokens = record.subject.split(separator: ".").map(String.init)
            guard tokens.count >= 4, tokens[2] == room else { continue }
            if tokens[3] == "ctl" {
                try decide(record.payload, at: record.time)
            } else if tokens.count > 4, let author = AuthorID(tokens[4]) {
                firstSequence = firstSequence ?? record.sequence
                try receive(record.payload, from: author, at: record.time)
            }
        }
    }

    private mutating func receive(_ bytes: [UInt8], from author: AuthorID, at time: Int64) throws {
        let message = try ModelMessage(bytes)
        var sent = SentMessage(message.kind, message.number, by: author)
        if message.isSharded { (sent.part, sent.parts) = (message.shardOrder, message.shardCount) }
        if messages[author.text]?[message.number]?[sent.part] == nil {
            messages[author.text, default: [:]][message.number, default: [:]][sent.part] = message
        }
        let moment = Instant(nanoseconds: time)
        note(authors.receive(sent, loggedAt: moment, at: moment), at: time)
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
            from <= to, let author = authors.authors[name]
        else { return }
        let numbers = authors.missing(from...to, of: name)
        giveUps += numbers.map { number in
            let delay = author.giveUpDue(number, by: time).map { Duration.nanoseconds(time - $0) }
            return ModelGiveUp(author: name, number: number, delay: delay)
        }
        note(authors.giveUp(numbers, of: name), at: time)
    }

    /// Notes what a record of the log leads to.
    private mutating func note(_ answers: [ModelAuthors.Answer], at time: Int64) {
        for answer in answers {
            switch answer.outcome {
            case .gaveUp: break
            case .rejected: outcomes[answer.author, default: [:]][answer.number] = .rejected
            case .applied(let applied):
                outcomes[answer.author, default: [:]][answer.number] = .applied(applied.index)
                let all = messages[answer.author]?[answer.number] ?? [:]
                let shards = all.sorted { $0.key < $1.key }.map(\.value)
                gateTime = max(gateTime, shards.map(\.time).max() ?? gateTime)
                operations.append(
                    ModelOperation(
                        index: applied.index, author: answer.author, number: answer.number, isLate: applied.isLate,
                        reference: applied.reference, digest: digestText(applied.digest), gateTime: gateTime,
                        time: time, messages: shards))
            }
        }
    }
}

extension ModelAuthor {
    /// When the rules give a number up that is not settled: 2 s after the first operation behind it became complete, 10 s
    /// after its last shard where nothing is behind it. A shard that came while the decision was on its way to the
    /// journal does not count.
    /// - Returns: in nanoseconds; nil for never.
    fileprivate func giveUpDue(_ number: Int64, by time: Int64) -> Int64? {
        let behind = pending.filter { $0 > number }.compactMap { completeAt($0)?.nanoseconds }
        if let first = behind.min() { return first + 2_000_000_000 }
        let shards = parts[number, default: [:]].values.map { $0.at.nanoseconds }.sorted()
        return (shards.last { $0 + 2_000_000_000 < time } ?? shards.first).map { $0 + 10_000_000_000 }
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

    /// What the model takes it for.
    fileprivate var kind: SentMessage.Kind {
        guard isAcceptable else { return .garbage }
        return switch action {
        case .draw: .draw
        case .undo: .undo
        case .redo: .redo
        case .clear: .clear
        }
    }

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
