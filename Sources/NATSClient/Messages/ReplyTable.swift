import Locking

/// The requests that wait for replies. All replies of a connection come on one subscription,
/// `<inbox prefix>.<random>.*`, where the last token is the request's number.
final class ReplyTable: Sendable {
    /// The most requests that wait at the same time; one more fails with `.tooManyRequests`.
    static let maxRequests = 65_536
    /// The most bytes of the replies gathered by all requests together; the request that exceeds it fails with
    /// `.tooManyRequests`.
    static let maxBytes = 256 << 20

    typealias Outcome = Promise<[NATSReply]>

    private struct Waiting {
        let subject: String
        var collector: ReplyCollector
        let outcome: Outcome
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var last: UInt64 = 0
        /// About what the replies gathered so far occupy.
        var bytes = 0
        /// Set when the user may not subscribe to the replies.
        var violation: PermissionViolation?

        /// Adds a reply.
        /// - Returns: the request and its outcome, when it is finished.
        mutating func receive(_ reply: NATSReply, for number: UInt64) -> (Waiting, Result<[NATSReply], NATSError>)? {
            guard let index = waiting.index(forKey: number) else { return nil }
            bytes -= waiting.values[index].collector.byteCount
            var result = waiting.values[index].collector.receive(reply)
            bytes += waiting.values[index].collector.byteCount
            if result == nil, bytes > ReplyTable.maxBytes { result = .failure(.tooManyRequests) }
            guard let result, let request = take(number) else { return nil }
            return (request, result)
        }

        mutating func take(_ number: UInt64) -> Waiting? {
            guard let request = waiting.removeValue(forKey: number) else { return nil }
            bytes -= request.collector.byteCount
            return request
        }
    }

    private let prefix: String
    private let state = Locked(State())

    /// - Parameter inboxPrefix: `NATSSettings.inboxPrefix`.
    init(inboxPrefix: String = "_INBOX") {
        prefix = Inbox.random(inboxPrefix) + "."
    }

    /// The subject that all replies match.
    var pattern: String { prefix + "*" }

    /// Adds a request under a new number.
    func add(_ collector: ReplyCollector, to subject: String) throws(NATSError) -> (number: UInt64, outcome: Outcome) {
        try state.withLock { state throws(NATSError) in
            if let violation = state.violation { throw .notPermitted(violation) }
            guard state.waiting.count < Self.maxRequests else { throw .tooManyRequests }
            state.last += 1
            let outcome = Outcome()
            state.waiting[state.last] = Waiting(subject: subject, collector: collector, outcome: outcome)
            return (state.last, outcome)
        }
    }

    /// The reply subject of a request.
    func subject(_ number: UInt64) -> String {
        prefix + String(number)
    }

    func remove(_ number: UInt64) {
        _ = state.withLock { $0.take(number) }
    }

    /// A message on a reply subject, on the delivery thread. It is ignored when its request no longer waits.
    func receive(_ message: borrowing NATSMessage) {
        let number = message.withSubject { subject in
            UInt64(String(decoding: subject.dropFirst(prefix.utf8.count), as: UTF8.self))
        }
        guard let number else { return }
        if message.saysNoResponders {
            finish(number, .failure(.noResponders))
            return
        }
        receive(NATSReply(copying: message), for: number)
    }

    /// A reply to a request. Parts are joined, or released, by the waiting task: not under the lock.
    func receive(_ reply: NATSReply, for number: UInt64) {
        if let (request, result) = state.withLock({ $0.receive(reply, for: number) }) {
            request.outcome.fulfil(result)
        }
    }

    /// Fails all requests: their replies may have been lost with the connection.
    func failAll(_ error: NATSError) {
        let waiting = state.withLock { state in
            defer {
                state.waiting = [:]
                state.bytes = 0
                // The next connection may be another user's.
                state.violation = nil
            }
            return state.waiting
        }
        for entry in waiting.values { entry.outcome.fulfil(.failure(error)) }
    }

    /// Fails the requests that the server does not permit: those to that subject, or all when replies are not
    /// permitted.
    func fail(because violation: PermissionViolation) {
        let numbers: [UInt64] = state.withLock { state in
            guard violation == PermissionViolation(.subscribe, pattern) else {
                return state.waiting.filter { violation == PermissionViolation(.publish, $1.subject) }.map(\.key)
            }
            state.violation = violation
            return Array(state.waiting.keys)
        }
        for number in numbers { finish(number, .failure(.notPermitted(violation))) }
    }

    private func finish(_ number: UInt64, _ result: Result<[NATSReply], NATSError>) {
        state.withLock { $0.take(number) }?.outcome.fulfil(result)
    }
}

/// What a request waits for, and what it has gathered. Pure.
enum ReplyCollector {
    /// The most bytes that one request gathers.
    static let maxBytes = 192 << 20
    /// The most replies that a request to many takes.
    static let maxReplies = 4096
    /// An upper bound of what a reply occupies beside its payload, in bytes.
    private static let overhead = 512

    case one
    /// One reply, which may come in parts; the outcome is the parts, not joined.
    case parts(PartAssembly)
    /// All replies until the time is over, handed over as they come; the outcome has none of them.
    case many(AsyncStream<NATSReply>.Continuation, count: Int = 0, bytes: Int = 0)

    /// Adds a reply.
    /// - Returns: the outcome, when the request is finished.
    mutating func receive(_ reply: NATSReply) -> Result<[NATSReply], NATSError>? {
        switch consume self {
        case .one:
            self = .one
            return .success([reply])
        case .parts(var assembly):
            defer { self = .parts(assembly) }
            do throws(NATSError) {
                return try assembly.receive(reply).map { .success($0) }
            } catch {
                return .failure(error)
            }
        case .many(let inlet, var count, var bytes):
            count += 1
            bytes += reply.payload.count
            inlet.yield(reply)
            self = .many(inlet, count: count, bytes: bytes)
            return count >= Self.maxReplies || bytes >= Self.maxBytes ? .success([]) : nil
        }
    }

    /// About what the replies so far occupy, in bytes.
    var byteCount: Int {
        switch self {
        case .one: 0
        case .parts(let assembly): assembly.byteCount
        case .many(_, let count, let bytes): bytes + count * Self.overhead
        }
    }
}
