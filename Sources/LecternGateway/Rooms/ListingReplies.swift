internal import NATSClient
internal import StrokeWire

/// Puts together the replies of several daemons to one request, each of which may come in parts.
///
/// Parts do not say whose they are. But those of one daemon come in order, so a part belongs to the first reply begun
/// that has as many parts and needs just this one. Where replies of equally many parts interleave this may mix them;
/// what results is no JSON then and is left out by the reader.
enum ListingReplies {
    /// The bodies that are complete, in the order in which they began.
    static func bodies(of replies: [NATSReply]) -> [[UInt8]] {
        var begun: [(parts: Int, received: Int, body: [UInt8])] = []
        for reply in replies {
            guard let part = part(of: reply) else { continue }
            if part.number == 1 {
                begun.append((part.count, 1, reply.payload))
            } else if let open = begun.firstIndex(where: { $0.parts == part.count && $0.received == part.number - 1 }) {
                begun[open].received += 1
                begun[open].body += reply.payload
            }
        }
        return begun.lazy.filter { $0.received == $0.parts }.map(\.body)
    }

    /// `2/3` is part 2 of 3; a reply that says nothing is whole; nil for what says neither.
    private static func part(of reply: NATSReply) -> (number: Int, count: Int)? {
        guard let text = reply.header(HeaderName.part) else { return (1, 1) }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1], 1...max(1, count) ~= number else {
            return nil
        }
        return (number, count)
    }
}
