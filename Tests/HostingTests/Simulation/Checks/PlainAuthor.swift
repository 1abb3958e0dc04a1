import Whiteboard

/// One author's count by the rules of order and loss: everything is kept, everything is looked through again.
struct PlainAuthor {
    enum Fate {
        case applied
        case rejected
        case gaveUp(head: Int)

        fileprivate var isApplied: Bool {
            if case .applied = self { true } else { false }
        }
    }

    /// A message's parts by their place.
    typealias Parts = [Int: SimulatedLog.Entry]

    var session: String?
    /// The numbers that were applied under each name that was used before.
    private var earlier: [String: Set<Int64>] = [:]
    var start: Int64 = 0
    var startedAt: Int64 = 0
    var startHead = 0
    var hasCount = false
    var parts: [Int64: Parts] = [:]
    var fates: [Int64: Fate] = [:]

    /// The least number that is not settled.
    var expected: Int64 {
        var number = start
        while fates[number] != nil { number += 1 }
        return number
    }

    /// Numbers of which something has come, and that are not settled.
    var pending: [Int64] { parts.keys.filter { fates[$0] == nil }.sorted() }

    func isComplete(_ number: Int64) -> Bool {
        guard let parts = parts[number], let first = parts.values.first?.sent else { return false }
        return parts.count == first.parts
    }

    /// When a number that nobody has settled is given up: 2 s after the first operation behind it became complete, or 10 s
    /// after its last shard where nothing is behind it. A shard that came while the decision was on its way to the log
    /// does not count.
    /// - Returns: nil for never.
    func giveUpDue(_ number: Int64, by now: Moment) -> Moment? {
        let behind = pending.filter { $0 > number && isComplete($0) }
        if let first = behind.compactMap({ parts[$0]?.values.map(\.at).max() }).min() { return first + .seconds(2) }
        let arrivals = parts[number, default: [:]].values.map(\.at).sorted()
        let last = arrivals.last { $0 + Self.transit < now } ?? arrivals.first
        return last.map { $0 + .seconds(10) }
    }

    /// The longest way of a decision: a log may be without a leader.
    private static let transit = Duration.seconds(7)

    /// - Returns: whether the message counts: false for one of an earlier count.
    mutating func enter(_ sent: Sent, at time: Int64, head: Int) -> Bool {
        if let name = sent.session, earlier[name] != nil, name != session { return false }
        if !hasCount || sent.session != nil && sent.session != session {
            begin(sent, at: time, head: head)
        }
        return true
    }

    /// Whether a number was applied in a count that is over.
    func isApplied(_ number: Int64, in session: String?) -> Bool {
        session.flatMap { earlier[$0] }?.contains(number) ?? false
    }

    private mutating func begin(_ sent: Sent, at time: Int64, head: Int) {
        if let name = session { earlier[name] = Set(fates.filter { $0.value.isApplied }.keys) }
        session = sent.session
        if let name = sent.session { earlier[name] = [] }
        (start, startedAt, startHead, hasCount) = (sent.number, time, head, true)
        parts = [:]
        fates = [:]
    }
}
