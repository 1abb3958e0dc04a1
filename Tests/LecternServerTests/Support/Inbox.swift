import NATSClient
import StrokeWire
import TestSupport

/// A message as it arrived.
struct Received: Sendable, Equatable {
    let subject: String
    let payload: [UInt8]
    let index: String?
    let room: String?
    let author: String?
    let ref: String?
    let digest: String?
    let late: String?

    init(_ message: borrowing NATSMessage) {
        subject = message.subject
        payload = message.copyPayload()
        index = message.header(HeaderName.index)
        room = message.header(HeaderName.room)
        author = message.header(HeaderName.author)
        ref = message.header(HeaderName.ref)
        digest = message.header(HeaderName.digest)
        late = message.header(HeaderName.late)
    }

    var text: String { String(decoding: payload, as: UTF8.self) }
}

/// Everything that arrives on a subject, to be awaited one by one with a deadline.
final class Inbox: Sendable {
    private let subscription: NATSSubscription
    private let stream: AsyncStream<Received>

    init(_ connection: NATSConnection, _ subject: String) async throws {
        let (stream, arrivals) = AsyncStream.makeStream(of: Received.self)
        self.stream = stream
        subscription = try connection.subscribe(subject) { message in arrivals.yield(Received(message)) }
        try await connection.flush()
    }

    deinit { subscription.unsubscribe() }

    /// The next message; throws when none comes in time.
    func next(within limit: Duration = .seconds(10)) async throws -> Received {
        let stream = stream
        return try await withDeadline(limit) {
            for await message in stream { return message }
            throw Unexpected("the subscription ended")
        }
    }

    func next(_ count: Int, within limit: Duration = .seconds(20)) async throws -> [Received] {
        var messages: [Received] = []
        while messages.count < count { messages.append(try await next(within: limit)) }
        return messages
    }

    /// The next message that a condition holds for; others before it are passed over.
    func next(within limit: Duration = .seconds(10), where condition: (Received) -> Bool) async throws -> Received {
        while true {
            let message = try await next(within: limit)
            if condition(message) { return message }
        }
    }
}

/// Waits for an operation, but not for ever.
func withDeadline<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw Unexpected("nothing came within \(limit)")
        }
        guard let first = try await group.next() else { throw Unexpected("no task") }
        group.cancelAll()
        return first
    }
}
