import StrokeWire

/// Recognises a client that begins to count anew without saying so: what an author sent under the numbers 0 and 1.
struct CountStart: Sendable {
    struct Sent: Sendable {
        /// 1 for an unsharded message, nil where a rejected message did not tell.
        let shardCount: Int?
        let fingerprint: UInt64
    }

    private(set) var sent: (zero: Sent?, one: Sent?)

    init() {}

    init(zero: Sent?, one: Sent?) {
        sent = (zero, one)
    }

    /// Keeps the first message under each of the two numbers. `header` is nil for one that was rejected unread.
    mutating func note(_ number: Int64, _ header: StrokeMessage?, _ bytes: [UInt8]) {
        guard number == 0 || number == 1, self[number] == nil else { return }
        let entry = Sent(shardCount: header.map { max(1, $0.shardCount) }, fingerprint: FNV1a64.hash(bytes))
        if number == 0 { sent.zero = entry } else { sent.one = entry }
    }

    /// Whether an acceptable message below the next expected number is the first of a new count.
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
