import StrokeWire

/// The sessions that an author has named by the `Ink-Session` header.
///
/// Remembers the last 64 names; a message of an older session would start a new sequence. Of what was applied in earlier
/// sessions, remembers as many runs as of the current one, the newest.
struct Sessions: Sendable {
    /// Which session a message belongs to.
    enum Standing {
        case unnamed
        case current
        case earlier(String)
        case new(String)
    }

    struct Known: Sendable {
        let name: String
        /// What was applied under it while it was the current one.
        var applied = AppliedNumbers()
    }

    static let bound = 64

    /// Oldest first.
    private(set) var known: [Known] = []
    private(set) var current: String?

    init() {}

    /// - Parameters:
    ///   - known: oldest first.
    ///   - isNamed: whether the last of them is the current session.
    init(known: [Known], isNamed: Bool) {
        self.known = known.suffix(Self.bound)
        current = isNamed ? known.last?.name : nil
        boundRuns()
    }

    /// - Parameter header: nil for none that is usable.
    func standing(of header: String?) -> Standing {
        guard let header else { return .unnamed }
        if header == current { return .current }
        return known.contains { $0.name == header } ? .earlier(header) : .new(header)
    }

    /// The index of a number of an earlier session; nil where it is not remembered.
    func index(of number: Int64, in earlier: String) -> UInt64? {
        known.last { $0.name == earlier }?.applied.index(of: number)
    }

    /// Starts a session.
    /// - Parameter applied: what was applied in the one that ends.
    mutating func begin(_ name: String?, after applied: AppliedNumbers) {
        if current != nil, !known.isEmpty {
            known[known.count - 1].applied = applied
            boundRuns()
        }
        current = name
        guard let name else { return }
        if known.count == Self.bound { known.removeFirst() }
        known.append(Known(name: name))
    }

    private mutating func boundRuns() {
        var excess = known.reduce(0) { $0 + $1.applied.runCount } - AppliedNumbers.bound
        for place in known.indices {
            while excess > 0, known[place].applied.runCount > 0 {
                known[place].applied.forgetOldestRun()
                excess -= 1
            }
        }
    }
}

/// Recognises a client without a session that starts a new sequence, by what the author sent before under the numbers 0
/// and 1.
struct SequenceRestartDetector: Sendable {
    struct Sent: Sendable {
        /// 1 for an unsharded message; nil for a message rejected unread.
        let shardCount: Int?
        let fingerprint: UInt64
    }

    private(set) var sent: (zero: Sent?, one: Sent?)

    init() {}

    init(zero: Sent?, one: Sent?) { sent = (zero, one) }

    /// Remembers the first message under each of the two numbers.
    /// - Parameter header: nil for a message rejected unread.
    mutating func note(_ number: Int64, _ header: StrokeMessage?, _ bytes: [UInt8]) {
        guard number == 0 || number == 1, self[number] == nil else { return }
        let entry = Sent(shardCount: header.map { max(1, $0.shardCount) }, fingerprint: FNV1a64.hash(bytes))
        if number == 0 { sent.zero = entry } else { sent.one = entry }
    }

    /// Whether an acceptable message below the next expected number is the first of a new sequence.
    func isRestart(_ header: StrokeMessage, _ bytes: [UInt8]) -> Bool {
        guard header.number <= 1 else { return false }
        guard let before = self[header.number] else { return true }
        if header.isSharded && header.action == .draw {
            return before.shardCount.map { $0 != header.shardCount } ?? false
        }
        return before.fingerprint != FNV1a64.hash(bytes)
    }

    private subscript(number: Int64) -> Sent? { number == 0 ? sent.zero : sent.one }
}
