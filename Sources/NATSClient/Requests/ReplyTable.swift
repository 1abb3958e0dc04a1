/// The requests that wait for their replies. All replies of a connection come to one subscription,
/// `_INBOX.<random>.*`; the last token is the request's number.
final class ReplyTable: Sendable {
    /// Requests that may wait at the same time; one more fails with `.tooManyRequests`.
    static let maxRequests = 65_536

    typealias Outcome = Promise<[NATSReply]>

    private struct Waiting {
        let subject: String
        var collector: ReplyCollector
        let outcome: Outcome
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var last: UInt64 = 0
        /// Replies cannot come, the user may not subscribe to them.
        var denial: Denial?
    }

    private let prefix: String
    private let state = Locked(State())

    init() {
        prefix = Inbox.random() + "."
    }

    /// The subject that all replies match.
    var pattern: String { prefix + "*" }

    /// Begins to wait under a new number for replies to a request.
    func add(_ collector: ReplyCollector, to subject: String) throws(NATSError) -> (number: UInt64, outcome: Outcome) {
        try state.withLock { state throws(NATSError) in
            if let denial = state.denial { throw .notPermitted(denial) }
            guard state.waiting.count < Self.maxRequests else { throw .tooManyRequests }
            state.last += 1
            let outcome = Outcome()
            state.waiting[state.last] = Waiting(subject: subject, collector: collector, outcome: outcome)
            return (state.last, outcome)
        }
    }

    /// Where the replies to that request go.
    func subject(_ number: UInt64) -> String {
        prefix + String(number)
    }

    /// Stops waiting; the replies gathered by a request to many.
    @discardableResult
    func remove(_ number: UInt64) -> [NATSReply]? {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.collector.gathered
    }

    /// A message to the inbox, on the delivery thread. One that nobody waits for any more is ignored.
    func receive(_ message: borrowing NATSMessage) {
        let number = message.withSubject { subject in
            UInt64(String(decoding: subject.dropFirst(prefix.utf8.count), as: UTF8.self))
        }
        guard let number else { return }
        if message.saysNoResponders {
            finish(number, .failure(.noResponders))
            return
        }
        let reply = NATSReply(copying: message)
        let done: (Outcome, Result<[NATSReply], NATSError>)? = state.withLock { state in
            guard let result = state.waiting[number]?.collector.receive(reply),
                let waiting = state.waiting.removeValue(forKey: number)
            else { return nil }
            return (waiting.outcome, result)
        }
        if let (outcome, result) = done { outcome.fulfil(result) }
    }

    /// Ends all waits: their replies may have been lost with the connection.
    func failAll(_ error: NATSError) {
        let waiting = state.withLock { state in
            defer {
                state.waiting = [:]
                // The next connection may be another user's.
                state.denial = nil
            }
            return state.waiting
        }
        for entry in waiting.values { entry.outcome.fulfil(.failure(error)) }
    }

    /// Ends the waits for what the server does not permit: requests on that subject, or replies at all.
    func fail(because denial: Denial) {
        let numbers: [UInt64] = state.withLock { state in
            guard denial == Denial(.subscribe, pattern) else {
                return state.waiting.filter { denial == Denial(.publish, $1.subject) }.map(\.key)
            }
            state.denial = denial
            return Array(state.waiting.keys)
        }
        for number in numbers { finish(number, .failure(.notPermitted(denial))) }
    }

    private func finish(_ number: UInt64, _ result: Result<[NATSReply], NATSError>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.outcome.fulfil(result)
    }
}
