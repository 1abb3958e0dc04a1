/// Joins a reply that comes in several messages, each with the header `Ink-Part: i/k`, `i` from 1 to `k`
/// (subjects.md, "Joining without gap or repeat"). A message without that header is a whole reply.
///
/// Parts may come in any order and repeated. When two services answer, the first count of parts that is seen holds
/// and parts of another count are ignored.
struct PartAssembly {
    /// The header that numbers the parts.
    static let header = "Ink-Part"
    /// Parts of one reply at the most.
    static let maxParts = 4096

    private var parts: [NATSReply?] = []
    private var missing = 0
    private var bytes = 0
    private let maxBytes: Int

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Takes a message; the whole reply once nothing is missing, `nil` before.
    mutating func receive(_ reply: NATSReply) throws(NATSError) -> NATSReply? {
        guard let number = reply.header(Self.header) else { return reply }
        guard let (index, count) = Self.parse(number) else {
            throw .malformedReply("\(Self.header): \(number)")
        }
        if parts.isEmpty {
            parts = Array(repeating: nil, count: count)
            missing = count
        }
        guard count == parts.count, parts[index - 1] == nil else { return nil }
        bytes += reply.payload.count
        guard bytes <= maxBytes else { throw .replyTooLarge(limit: maxBytes) }
        parts[index - 1] = reply
        missing -= 1
        return missing == 0 ? joined() : nil
    }

    private func joined() -> NATSReply? {
        guard let first = parts.first, var whole = first else { return nil }
        whole.payload.reserveCapacity(bytes)
        for case let part? in parts.dropFirst() { whole.payload += part.payload }
        return whole
    }

    /// `"2/3"` is `(2, 3)`.
    static func parse(_ text: String) -> (index: Int, count: Int)? {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let index = Int(numbers[0]), let count = Int(numbers[1]),
            1...maxParts ~= count, 1...count ~= index
        else { return nil }
        return (index, count)
    }
}
