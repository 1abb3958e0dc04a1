internal import Locking
internal import StrokeWire

/// What an author may post a second, with bursts of twice that: the limits that the rooms of the service have.
public struct PostLimits: Sendable, Equatable {
    /// Messages a second, at least 1.
    public var messagesPerSecond: Int
    /// Bytes a second, at least 1.
    public var bytesPerSecond: Int

    /// The defaults are those of the service.
    public init(messagesPerSecond: Int = 200, bytesPerSecond: Int = 1 << 20) {
        self.messagesPerSecond = messagesPerSecond
        self.bytesPerSecond = bytesPerSecond
    }

    /// Messages that an author may post at once.
    var burst: Int { 2 * messagesPerSecond }
}

/// How much each author may send, so that the service does not have to refuse what it would then have settled: the
/// service's own limits, by author, in this gateway.
final class AuthorRates: Sendable {
    private struct Bucket {
        var messages: Double
        var bytes: Double
        var updated: ContinuousClock.Instant

        /// A full bucket.
        init(_ limits: PostLimits, at now: ContinuousClock.Instant) {
            messages = Double(limits.burst)
            bytes = 2 * Double(limits.bytesPerSecond)
            updated = now
        }

        mutating func refill(_ limits: PostLimits, at now: ContinuousClock.Instant) {
            let full = Bucket(limits, at: now)
            let seconds = max(0, (now - updated) / .seconds(1))
            messages = min(full.messages, messages + seconds * full.messages / 2)
            bytes = min(full.bytes, bytes + seconds * full.bytes / 2)
            updated = now
        }

        /// Seconds until the bucket holds so much. What is more than any holds waits for a full one, which then owes the rest:
        /// it would never pass.
        func wait(messages: Int, bytes: Int, _ limits: PostLimits) -> Double {
            let full = Bucket(limits, at: updated)
            return max(
                (min(Double(messages), full.messages) - self.messages) / (full.messages / 2),
                (min(Double(bytes), full.bytes) - self.bytes) / (full.bytes / 2))
        }
    }

    private struct State {
        var authors: [AuthorID: [RoomAddress: Bucket]] = [:]
        var count = 0

        /// Forgets those whose buckets are full: they would get such a one.
        mutating func forget(_ author: AuthorID, _ limits: PostLimits, at now: ContinuousClock.Instant) {
            guard let rooms = authors[author] else { return }
            let left = rooms.filter { _, bucket in
                var bucket = bucket
                bucket.refill(limits, at: now)
                return bucket.wait(messages: .max, bytes: .max, limits) > 0
            }
            count -= rooms.count - left.count
            authors[author] = left.isEmpty ? nil : left
        }
    }

    /// Authors in rooms that are kept.
    private static let bound = 10_000
    /// Of them those of one author, who may write in any number of rooms; beyond, this author alone is refused.
    static let roomsOfAuthor = 100

    private let limits: PostLimits
    private let state = Locked(State())

    init(_ limits: PostLimits) {
        self.limits = limits
    }

    /// Why an author has to wait.
    var refusal: String {
        "The author sends more than \(limits.messagesPerSecond) messages or \(limits.bytesPerSecond) bytes a second."
    }

    /// Takes the messages of one request, all or none.
    /// - Returns: nil when they were taken, else after how many seconds to come again.
    func take(_ messages: Int, bytes: Int, of author: AuthorID, in room: RoomAddress) -> Int? {
        state.withLock { [limits] state in
            let now = ContinuousClock.now
            let known = state.authors[author]?[room]
            if known == nil {
                if state.authors[author]?.count ?? 0 >= Self.roomsOfAuthor { state.forget(author, limits, at: now) }
                guard state.authors[author]?.count ?? 0 < Self.roomsOfAuthor else { return 1 }
                if state.count >= Self.bound {
                    for author in state.authors.keys { state.forget(author, limits, at: now) }
                }
                guard state.count < Self.bound else { return 1 }
                state.count += 1
            }
            var bucket = known ?? Bucket(limits, at: now)
            bucket.refill(limits, at: now)
            defer { state.authors[author, default: [:]][room] = bucket }
            let wait = bucket.wait(messages: messages, bytes: bytes, limits)
            guard wait <= 0 else { return Int(wait.rounded(.up)) }
            bucket.messages -= Double(messages)
            bucket.bytes -= Double(bytes)
            return nil
        }
    }
}
