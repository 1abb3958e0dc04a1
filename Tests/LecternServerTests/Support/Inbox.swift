import NATSClient
import StrokeWire
import TestSupport

/// A received message.
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

/// The messages of a subscription, awaited one by one with a deadline.
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

    /// The next message; throws if none arrives in time.
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

    /// The next message that meets a condition; skips others.
    func next(within limit: Duration = .seconds(10), where condition: (Received) -> Bool) async throws -> Received {
        while true {
            let message = try await next(within: limit)
            if condition(message) { return message }
        }
    }
}

/// Runs an operation with a deadline.
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

/// Publishes messages of one author as text.
struct Hand: Sendable {
    let connection: NATSConnection
    let address: RoomAddress
    let author: AuthorID

    init(_ connection: NATSConnection, _ address: RoomAddress, _ author: String = "anna") throws {
        guard let id = AuthorID(author) else { throw Unexpected("not an author: \(author)") }
        self.connection = connection
        self.address = address
        self.author = id
    }

    func publish(_ text: String) throws {
        try connection.publish(Array(text.utf8), to: address.subject(.input(author)))
    }

    /// A stroke of two points.
    static func stroke(_ number: Int, at time: Int, _ more: String = "") -> String {
        #"{"n":\#(number),"c":1,"l":4,"t":\#(time),"w":400,"h":300,"d":[{"x":\#(number % 400),"y":10},{"x":200,"y":150}]\#(more)}"#
    }

    static func command(_ action: Int, _ number: Int, at time: Int) -> String {
        #"{"n":\#(number),"a":\#(action),"t":\#(time)}"#
    }
}

extension NATSConnection {
    /// Sets a clock that stands still at a media time, so that the test decides when it moves.
    func setClock(_ address: RoomAddress, _ media: Int, cohort: CohortName = .main, _ more: String = "") throws {
        try publish(Array(#"{"m":\#(media),"r":0\#(more)}"#.utf8), to: address.subject(.clock(cohort)))
    }
}
