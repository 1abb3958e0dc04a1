import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// One message as it arrived: a shard of an operation, or all of it.
struct Arrival {
    /// The last two are decisions about the author.
    enum Kind { case draw, undo, redo, clear, turn, arrange, paper, remove, mute, unmute }

    let at: Instant
    let author: String
    let number: Int64
    let kind: Kind
    /// Position among its stroke's parts, from 0, and their number.
    let part: Int
    let parts: Int
    /// The x coordinates of its points.
    let ink: [Int]
    var page: Int?
    var order: [Int] = []
    /// What a removal names.
    var indices: [UInt64] = []
    /// Whether a draw is a pointer.
    var isPointer = false
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

/// A model of the rules of order and loss, as plain as possible: keeps everything and searches it after each event.
/// Decisions take effect at once. Leaves out sequences restarted at 0 or 1.
struct ModelRoom {
    private enum Fate {
        case applied, rejected
        case gaveUp(head: UInt64)
    }

    private struct Author {
        let start: Int64
        let startedAt: Instant
        let startHead: UInt64
        var parts: [Int64: [Int: Arrival]] = [:]
        var fates: [Int64: Fate] = [:]
        var completeAt: [Int64: Instant] = [:]
        var lastPartAt: [Int64: Instant] = [:]

        var expected: Int64 {
            var number = start
            while fates[number] != nil { number += 1 }
            return number
        }
        var held: [Int64] { completeAt.keys.filter { fates[$0] == nil } }
    }

    private(set) var log: [String] = []
    /// Numbers that were given up, and when.
    private(set) var giveUps: [GiveUp] = []
    private(set) var board: ModelPages
    /// The x coordinates of each stroke.
    private(set) var ink: [UInt64: [Int]] = [:]
    private var authors: [String: Author] = [:]
    private var muted: Set<String> = []
    private var head: UInt64 { UInt64(log.count) }

    init(_ rules: HistoryConfiguration) {
        board = ModelPages(rules)
    }

    mutating func receive(_ arrival: Arrival) {
        giveUp(until: arrival.at)
        switch arrival.kind {
        case .mute: return mute(arrival.author)
        case .unmute:
            muted.remove(arrival.author)
            return
        default: break
        }
        var author =
            authors[arrival.author]
            ?? Author(start: arrival.number, startedAt: arrival.at, startHead: head)
        let number = arrival.number
        guard !muted.contains(arrival.author) else {
            let isKnown = number >= author.start || arrival.at - author.startedAt <= .seconds(2)
            if author.fates[number] == nil, isKnown { author.fates[number] = .rejected }
            return keep(author, arrival.author)
        }
        if number < author.start, author.fates[number] == nil {
            guard arrival.at - author.startedAt <= .seconds(2) else { return }
            author.fates[number] = .gaveUp(head: author.startHead)
        }
        switch author.fates[number] {
        case .applied, .rejected: break
        case .gaveUp(let since):
            if arrival.kind != .draw || board.lastClear(on: arrival.page) > since {
                author.fates[number] = .rejected
            } else if take(arrival, &author) {
                apply(number, &author, isLate: true)
            }
        case nil:
            guard author.completeAt[number] == nil else { break }
            if take(arrival, &author) { author.completeAt[number] = arrival.at }
            drain(&author)
        }
        keep(author, arrival.author)
    }

    /// What waits is rejected, and strokes that were given up lose the parts that have come.
    private mutating func mute(_ name: String) {
        guard muted.insert(name).inserted, var author = authors[name] else { return }
        for number in author.parts.keys {
            switch author.fates[number] {
            case nil: author.fates[number] = .rejected
            case .gaveUp: author.parts[number] = nil
            case .applied, .rejected: break
            }
        }
        keep(author, name)
    }

    /// While a room has no operation, rejected and given-up messages leave no trace.
    private mutating func keep(_ author: Author, _ name: String) {
        authors[name] = log.isEmpty && author.parts.keys.allSatisfy { author.fates[$0] != nil } ? nil : author
    }

    /// Gives up what has waited long enough by then.
    mutating func giveUp(until now: Instant) {
        while let (due, name, number) = nextGiveUp, due <= now, var author = authors[name] {
            author.fates[number] = .gaveUp(head: head)
            giveUps.append(GiveUp(author: name, number: number, at: due))
            drain(&author)
            keep(author, name)
        }
    }

    private var nextGiveUp: (due: Instant, author: String, number: Int64)? {
        var next: (due: Instant, author: String, number: Int64)?
        for (name, author) in authors {
            let last = max(author.held.max() ?? 0, author.parts.keys.max() ?? 0)
            for number in author.expected..<max(author.expected, last + 1)
            where author.fates[number] == nil && author.completeAt[number] == nil {
                let behind = author.held.filter { $0 > number }.compactMap { author.completeAt[$0] }
                let due: Instant
                if let first = behind.min() {
                    due = first + .seconds(2)
                } else if let last = author.lastPartAt[number] {
                    due = last + .seconds(10)
                } else {
                    continue
                }
                if next.map({ (due, name, number) < ($0.due, $0.author, $0.number) }) ?? true {
                    next = (due, name, number)
                }
            }
        }
        return next
    }

    /// - Returns: whether all parts have come.
    private func take(_ arrival: Arrival, _ author: inout Author) -> Bool {
        if author.parts[arrival.number]?[arrival.part] == nil {
            author.parts[arrival.number, default: [:]][arrival.part] = arrival
            author.lastPartAt[arrival.number] = arrival.at
        }
        return author.parts[arrival.number]?.count == arrival.parts
    }

    private mutating func drain(_ author: inout Author) {
        while author.completeAt[author.expected] != nil { apply(author.expected, &author, isLate: false) }
    }

    private mutating func apply(_ number: Int64, _ author: inout Author, isLate: Bool) {
        author.fates[number] = .rejected
        guard let parts = author.parts[number], let first = parts.values.first else { return }
        let index = head + 1
        var reference: UInt64?
        switch first.kind {
        case .draw where first.isPointer: break
        case .draw:
            board.draw(index, by: first.author, on: first.page)
            ink[index] = parts.sorted { $0.key < $1.key }.flatMap(\.value.ink)
        case .clear:
            board.clear(index, on: first.page)
        case .undo:
            reference = board.undo(by: first.author, on: first.page)
            if reference == nil { return }
        case .redo:
            reference = board.redo(by: first.author, on: first.page)
            if reference == nil { return }
        case .turn: board.turn(to: board.page(first.page))
        case .arrange: board.arrange(first.order)
        case .paper: board.see(board.page(first.page))
        case .remove:
            let removed = board.remove(index, first.indices, by: first.author, on: first.page)
            if removed.isEmpty { return }
        case .mute, .unmute: return
        }
        author.fates[number] = .applied
        let late = isLate ? " late" : ""
        log.append("\(index) \(first.author) \(number) \(first.kind)\(reference.map { " \($0)" } ?? "")\(late)")
    }
}

extension ModelStudent {
    /// Takes the next operation, and records what cannot be.
    mutating func receive(_ operation: Whiteboard.Operation) {
        for fault in take(operation) { Issue.record("\(fault)") }
    }
}
