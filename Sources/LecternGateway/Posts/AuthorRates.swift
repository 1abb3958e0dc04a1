internal import Locking
internal import StrokeWire

/// What an author may post: the limits that the rooms of the service have.
public struct PostLimits: Sendable, Equatable {
    /// Messages a second, with bursts of twice that, at least 1.
    public var messagesPerSecond: Int
    /// Bytes a second, with bursts of twice that, at least 1.
    public var bytesPerSecond: Int
    /// Bytes of one message.
    public var messageBytes: Int

    /// The defaults are those of the service.
    public init(messagesPerSecond: Int = 200, bytesPerSecond: Int = 1 << 20, messageBytes: Int = 1 << 18) {
        self.messagesPerSecond = messagesPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.messageBytes = messageBytes
    }
}

/// How much each author may send, so that the service does not have to refuse what it would then have settled: the
/// service's own limits, by author, in this gateway.
final class AuthorRates: Sendable {
    private struct Buckets {
        var messages, bytes: TokenBucket

        init(_ limits: PostLimits, at now: TokenBucket.Instant) {
            messages = TokenBucket(rate: limits.messagesPerSecond, at: now)
            bytes = TokenBucket(rate: limits.bytesPerSecond, at: now)
        }

        mutating func refill(at now: TokenBucket.Instant) {
            messages.refill(at: now)
            bytes.refill(at: now)
        }
    }

    private struct State {
        var authors: [AuthorID: [RoomAddress: Buckets]] = [:]
        var count = 0
        var sweptAt: TokenBucket.Instant?

        /// Whether there is place for a further room of an author, which is made at most once a second.
        mutating func hasPlace(for author: AuthorID, at now: TokenBucket.Instant) -> Bool {
            if authors[author]?.count ?? 0 >= AuthorRates.roomsOfAuthor { forgetFull(of: author, at: now) }
            if count >= AuthorRates.bound, sweptAt.map({ now - $0 >= .seconds(1) }) ?? true {
                sweptAt = now
                for author in authors.keys { forgetFull(of: author, at: now) }
            }
            return authors[author]?.count ?? 0 < AuthorRates.roomsOfAuthor && count < AuthorRates.bound
        }

        /// Forgets full buckets: their author would get such ones.
        private mutating func forgetFull(of author: AuthorID, at now: TokenBucket.Instant) {
            guard let rooms = authors[author] else { return }
            let left = rooms.filter { !$0.value.messages.isFull(at: now) || !$0.value.bytes.isFull(at: now) }
            count -= rooms.count - left.count
            authors[author] = left.isEmpty ? nil : left
        }
    }

    /// Authors in rooms that are kept.
    static let bound = 10_000
    /// Of them those of one author, who may write in any number of rooms; beyond, this author alone is refused.
    static let roomsOfAuthor = 100

    private let limits: PostLimits
    private let state = Locked(State())

    init(_ limits: PostLimits) {
        self.limits = limits
    }

    /// Takes the messages of one request, all or none.
    /// - Returns: nil when they were taken, else after how many seconds to come again.
    func take(
        _ messages: Int, bytes: Int, of author: AuthorID, in room: RoomAddress, at now: TokenBucket.Instant = .now
    ) -> Int? {
        state.withLock { state in
            let known = state.authors[author]?[room]
            if known == nil {
                guard state.hasPlace(for: author, at: now) else { return 1 }
                state.count += 1
            }
            var buckets = known ?? Buckets(limits, at: now)
            buckets.refill(at: now)
            defer { state.authors[author, default: [:]][room] = buckets }
            let wait = max(buckets.messages.wait(for: messages), buckets.bytes.wait(for: bytes))
            guard wait == .zero else { return Int((wait / .seconds(1)).rounded(.up)) }
            buckets.messages.take(messages)
            buckets.bytes.take(bytes)
            return nil
        }
    }

    /// Why an author has to wait.
    var refusal: String {
        "The author sends more than \(limits.messagesPerSecond) messages or \(limits.bytesPerSecond) bytes a second."
    }

    /// Takes the messages of one request now.
    /// - Throws: `rate-limited`; then none of them were taken.
    func admit(_ messages: Int, bytes: Int, of author: AuthorID, in room: RoomAddress) throws(GatewayError) {
        guard let seconds = take(messages, bytes: bytes, of: author, in: room) else { return }
        throw .tooManyRequests(refusal, retryAfter: seconds)
    }
}
