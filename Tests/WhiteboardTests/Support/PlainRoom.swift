import Whiteboard

/// One message as it arrived: a shard of an operation, or all of it.
struct Arrival {
    enum Kind { case draw, undo, redo, clear }

    let at: Instant
    let author: String
    let number: Int64
    let kind: Kind
    /// Place among its stroke's parts, from 0, and how many parts there are.
    let part: Int
    let parts: Int
    /// Abscissae of its points.
    let ink: [Int]
}

/// The rules of order and loss, written as plainly as they read: everything is kept, everything is looked through
/// again after each event. Decisions take effect at once. Starts of counts at 0 or 1 are left out.
struct PlainRoom {
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
    private(set) var board: PlainBoard
    /// Abscissae of each stroke.
    private(set) var ink: [UInt64: [Int]] = [:]
    private var authors: [String: Author] = [:]
    private var lastClear: UInt64 = 0
    private var head: UInt64 { UInt64(log.count) }

    init(_ rules: HistoryConfiguration) {
        board = PlainBoard(rules)
    }

    mutating func receive(_ arrival: Arrival) {
        giveUp(until: arrival.at)
        var author =
            authors[arrival.author]
            ?? Author(start: arrival.number, startedAt: arrival.at, startHead: head)
        let number = arrival.number
        if number < author.start, author.fates[number] == nil {
            guard arrival.at - author.startedAt <= .seconds(2) else { return }
            author.fates[number] = .gaveUp(head: author.startHead)
        }
        switch author.fates[number] {
        case .applied, .rejected: break
        case .gaveUp(let since):
            if arrival.kind != .draw || lastClear > since {
                author.fates[number] = .rejected
            } else if take(arrival, &author) {
                apply(number, &author, isLate: true)
            }
        case nil:
            guard author.completeAt[number] == nil else { break }
            if take(arrival, &author) { author.completeAt[number] = arrival.at }
            drain(&author)
        }
        authors[arrival.author] = author
    }

    /// What has waited long enough by then is given up.
    mutating func giveUp(until now: Instant) {
        while let (due, name, number) = nextGiveUp, due <= now, var author = authors[name] {
            author.fates[number] = .gaveUp(head: head)
            drain(&author)
            authors[name] = author
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

    /// - Returns: whether all parts are there.
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
        case .draw:
            board.draw(index, by: first.author)
            ink[index] = parts.sorted { $0.key < $1.key }.flatMap(\.value.ink)
        case .clear:
            board.clear(index)
            lastClear = index
        case .undo:
            reference = board.undo(by: first.author)
            if reference == nil { return }
        case .redo:
            reference = board.redo(by: first.author)
            if reference == nil { return }
        }
        author.fates[number] = .applied
        let late = isLate ? " late" : ""
        log.append("\(index) \(first.author) \(number) \(first.kind)\(reference.map { " \($0)" } ?? "")\(late)")
    }
}
