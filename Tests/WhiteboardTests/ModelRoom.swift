import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// What comes into the log of a room, and when.
struct Arrival {
    enum Content {
        case message(SentMessage)
        case mute(AuthorID)
        case unmute(AuthorID)
    }

    let at: Instant
    let content: Content
}

/// A number that was given up, and the moment.
struct GiveUp: Hashable, Comparable {
    let author: String
    let number: Int64
    let at: Instant

    static func < (a: GiveUp, b: GiveUp) -> Bool { (a.at, a.author, a.number) < (b.at, b.author, b.number) }
}

extension RoomProbe {
    /// What the room asked to give up, and when.
    var giveUps: [GiveUp] {
        zip(decisions, decisionTimes).flatMap { record, at -> [GiveUp] in
            guard case .gaveUp(let author, let from, let to, _) = record else { return [] }
            return (from...to).map { GiveUp(author: author.text, number: $0, at: at) }
        }
    }
}

/// A room whose decisions take effect at once, by the rules as they read.
struct ModelRoom {
    private(set) var log: [String] = []
    private(set) var giveUps: [GiveUp] = []
    /// The x coordinates of each draw.
    private(set) var ink: [UInt64: [Int]] = [:]
    private var authors: ModelAuthors
    var board: ModelPages { authors.board }

    init(_ rules: HistoryConfiguration) { authors = ModelAuthors(rules) }

    mutating func receive(_ arrival: Arrival) {
        giveUp(until: arrival.at)
        switch arrival.content {
        case .message(let sent): note(authors.receive(sent, loggedAt: arrival.at, at: arrival.at))
        case .mute(let author): note(authors.mute(author.text, at: arrival.at))
        case .unmute(let author): authors.unmute(author.text)
        }
    }

    /// Gives up what has waited long enough by then.
    mutating func giveUp(until now: Instant) {
        while let next = nextGiveUp, next.at <= now {
            giveUps.append(next)
            note(authors.giveUp([next.number], of: next.author))
        }
    }

    /// 2 s after the first operation behind it became complete, or 10 s after its last shard where nothing is behind it.
    private var nextGiveUp: GiveUp? {
        authors.authors.flatMap { name, author -> [GiveUp] in
            guard let last = author.pending.last else { return [] }
            let held = author.pending.compactMap { number in author.completeAt(number).map { (number, $0) } }
            return authors.missing(0...last, of: name).compactMap { number in
                let behind = held.filter { $0.0 > number }.map(\.1).min().map { $0 + .seconds(2) }
                let alone = author.parts[number]?.values.map(\.at).max().map { $0 + .seconds(10) }
                return (behind ?? alone).map { GiveUp(author: name, number: number, at: $0) }
            }
        }.min()
    }

    private mutating func note(_ answers: [ModelAuthors.Answer]) {
        for case .applied(let applied) in answers.map(\.outcome) {
            let sent = applied.sent
            ink[applied.index] = applied.ink
            let reference = applied.reference.map { " \($0)" } ?? ""
            let late = applied.isLate ? " late" : ""
            log.append("\(applied.index) \(sent.author) \(sent.number) \(sent.kind)\(reference)\(late)")
        }
        authors.forgetRefused()
    }
}

extension ModelStudent {
    /// Takes the next operation, and records what cannot be.
    mutating func receive(_ operation: Whiteboard.Operation) {
        for fault in take(operation) { Issue.record("\(fault)") }
    }
}
