/// What a request waits for. Pure: replies go in, and at some point the outcome comes out.
enum ReplyCollector {
    /// Bytes that one request may gather.
    static let maxBytes = 64 << 20
    /// Replies that a request to many may gather.
    static let maxReplies = 4096

    /// The first reply.
    case one
    /// One reply, maybe in parts.
    case parts(PartAssembly)
    /// All replies until the window closes.
    case many([NATSReply], bytes: Int)

    /// Takes a reply; the outcome when the request is done with.
    mutating func receive(_ reply: NATSReply) -> Result<[NATSReply], NATSError>? {
        switch consume self {
        case .one:
            self = .one
            return .success([reply])
        case .parts(var assembly):
            defer { self = .parts(assembly) }
            do throws(NATSError) {
                return try assembly.receive(reply).map { .success([$0]) }
            } catch {
                return .failure(error)
            }
        case .many(var replies, var bytes):
            bytes += reply.payload.count
            replies.append(reply)
            self = .many(replies, bytes: bytes)
            return replies.count >= Self.maxReplies || bytes >= Self.maxBytes ? .success(replies) : nil
        }
    }

    /// What has been gathered when the time is over.
    var gathered: [NATSReply]? {
        if case .many(let replies, _) = self { replies } else { nil }
    }
}
