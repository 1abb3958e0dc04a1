import NATSClient
import StrokeWire
import TestSupport

@testable import LecternServer

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
    func next() async throws -> Received {
        let stream = stream
        return try await withDeadline(.hangLimit) {
            for await message in stream { return message }
            throw Unexpected("the subscription ended")
        }
    }

    func next(_ count: Int) async throws -> [Received] {
        var messages: [Received] = []
        while messages.count < count { messages.append(try await next()) }
        return messages
    }

    /// The next feedback; skips what is said of checkpoints, which come when they come.
    func nextAnswer() async throws -> Feedback {
        while true {
            let feedback = try Feedback(decoding: try await next().payload)
            if case .covered = feedback { continue }
            return feedback
        }
    }

    /// The next message that meets a condition; skips others.
    func next(where condition: (Received) -> Bool) async throws -> Received {
        while true {
            let message = try await next()
            if condition(message) { return message }
        }
    }
}

/// Publishes messages of one author as text.
struct Hand: Sendable {
    let connection: NATSConnection
    let address: RoomAddress
    let author: AuthorID

    init(_ connection: NATSConnection, _ address: RoomAddress, _ author: String = "anna") throws {
        self.connection = connection
        self.address = address
        self.author = try .test(author)
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
