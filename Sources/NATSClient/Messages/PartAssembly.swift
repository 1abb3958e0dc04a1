/// Assembles a reply that comes in parts, messages with the header `Ink-Part: i/k`, where `i` is 1 to `k`. A message
/// without that header is a whole reply.
///
/// Parts may come in any order and repeatedly. When two services answer, parts with another `k` than the first part's
/// are ignored.
struct PartAssembly {
    static let header = "Ink-Part"
    /// The most parts of a reply.
    static let maxParts = 4096
    /// An upper bound of what a part occupies beside its payload, in bytes.
    private static let overhead = 512

    private var parts: [Int: NATSReply] = [:]
    private var count: Int?
    private var bytes = 0
    private let maxBytes: Int

    /// - Parameter maxBytes: the limit of all payloads together.
    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// About what the parts occupy, in bytes.
    var byteCount: Int { bytes + parts.count * Self.overhead }

    /// Adds a message. Copies nothing, so it may be called under a lock.
    /// - Returns: all parts in their order when none is missing, for ``join(_:)``; `nil` before.
    mutating func receive(_ reply: NATSReply) throws(NATSError) -> [NATSReply]? {
        guard let number = reply.header(Self.header) else { return [reply] }
        guard let (index, count) = Self.parse(number) else {
            throw .malformedReply("\(Self.header): \(number)")
        }
        if self.count == nil { self.count = count }
        guard count == self.count, parts[index] == nil else { return nil }
        bytes += reply.payload.count
        guard bytes <= maxBytes else { throw .replyTooLarge(limit: maxBytes) }
        parts[index] = reply
        return parts.count == count ? (1...count).compactMap { parts[$0] } : nil
    }

    /// Joins parts to one reply with the headers of the first part.
    static func join(_ parts: [NATSReply]) -> NATSReply? {
        guard var whole = parts.first else { return nil }
        guard parts.count > 1 else { return whole }
        whole.payload.reserveCapacity(parts.reduce(0) { $0 + $1.payload.count })
        for part in parts.dropFirst() { whole.payload += part.payload }
        return whole
    }

    /// Parses a part number: `"2/3"` is `(2, 3)`.
    static func parse(_ text: String) -> (index: Int, count: Int)? {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let index = Int(numbers[0]), let count = Int(numbers[1]),
            1...maxParts ~= count, 1...count ~= index
        else { return nil }
        return (index, count)
    }
}

/// Joins the replies of several services to one request, each of which may come in parts.
///
/// Parts do not name their service. But those of one service come in order, so a part belongs to the first unfinished
/// reply with the same `k` that needs exactly this part. Interleaved replies with the same `k` may get mixed; the result
/// is not JSON then. Invalid part numbers are ignored.
struct PartJoiner {
    private var begun: [(count: Int, parts: [NATSReply])] = []

    /// - Returns: the whole reply that this message completes.
    mutating func receive(_ reply: NATSReply) -> NATSReply? {
        guard let number = reply.header(PartAssembly.header) else { return reply }
        guard let (index, count) = PartAssembly.parse(number) else { return nil }
        if count == 1 { return reply }
        if index == 1 {
            begun.append((count, [reply]))
            return nil
        }
        guard let open = begun.firstIndex(where: { $0.count == count && $0.parts.count == index - 1 }) else {
            return nil
        }
        begun[open].parts.append(reply)
        return begun[open].parts.count == count ? PartAssembly.join(begun.remove(at: open).parts) : nil
    }
}
