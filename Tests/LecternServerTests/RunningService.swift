// The service in the test's process on a real nats-server: without a journal (`RunningService`), or started and stopped on one
// (`DurableClass`). What needs no server is tested on the types themselves. `Pictures` renders boards, `Operators` has what
// operators do.

import Dispatch
import Journal
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport
import Whiteboard

@testable import LecternServer

/// A service in the test process.
final class RunningDaemon: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns once it serves.
    init(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer, settings: (inout NATSSettings) -> Void = { _ in },
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 }
    ) async throws {
        var connectionSettings = NATSSettings(url: nats.url)
        settings(&connectionSettings)
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        var server = Server(
            configuration: configuration, connection: NATSConnection(connectionSettings, logger: .silent),
            logger: .silent, onServing: { isServing.finish() })
        server.replySink = replies
        let group = ServiceGroup(services: [server], logger: .silent)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    /// Runs a service while `body` runs, then shuts it down.
    static func with<Result: Sendable>(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let daemon = try await RunningDaemon(configuration, nats, replies: replies)
        do {
            let result = try await body()
            try await daemon.stop()
            return result
        } catch {
            try? await daemon.stop()
            throw error
        }
    }

    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

/// A service on a nats-server of its own, and a client connection.
struct RunningService: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body, then stops everything, also if the body throws.
    /// - Parameters:
    ///   - server: the configuration of the nats-server.
    ///   - replies: replaces the sink for replies.
    static func with(
        _ configuration: ServerConfiguration = ServerConfiguration(), server: String? = nil,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await NATSTestServer.with(configuration: server) { nats in
            try await RunningDaemon.with(configuration, nats, replies: replies) {
                try await NATSConnection.with(nats) { client in
                    try await body(RunningService(nats: nats, client: client, configuration: configuration))
                }
            }
        }
    }

    /// The same with the address of a room and an author of it.
    static func withRoom(
        _ room: String, _ configuration: ServerConfiguration = ServerConfiguration(), server: String? = nil,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable (RunningService, RoomAddress, Hand) async throws -> Void
    ) async throws {
        try await with(configuration, server: server, replies: replies) { service in
            let address = try configuration.address(room)
            try await body(service, address, try Hand(service.client, address))
        }
    }

    func address(_ room: String) throws -> RoomAddress { try configuration.address(room) }

    func connect() async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: nats.url), logger: .silent)
        try await connection.connect()
        return connection
    }
}

extension ServerConfiguration {
    static func test(_ adjust: (inout ServerConfiguration) -> Void) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        adjust(&configuration)
        return configuration
    }

    func address(_ room: String) throws -> RoomAddress {
        RoomAddress(root: root, room: try .test(room), partitions: partitions)
    }
}

extension SubjectToken {
    static func test(_ text: String) throws -> Self {
        guard let token = Self(text) else { throw Unexpected("not a name: \(text)") }
        return token
    }
}

extension WorkerPool {
    /// Runs one worker, without a journal.
    /// - Parameter first: gives it something before it starts, so that this is one batch.
    static func with(
        _ configuration: ServerConfiguration, _ connection: NATSConnection, first: (RoomWorker) throws -> Void,
        _ body: () async throws -> Void
    ) async throws {
        let pool = WorkerPool(
            configuration, connection, connection,
            replies: ReplySender(connection: connection, logger: .silent).sink, probe: WorkerProbe(), .silent)
        let worker = pool.workers.all[0]
        worker.post(.partition(.open(0, prefix: "test", stored: [:], kept: nil)))
        worker.post(.partition(.caughtUp(0)))
        try first(worker)
        let journal = VolatileJournal(root: configuration.root, partitions: 1, logger: .silent)
        let threads = pool.start(journal, keeper: nil)
        try await body()
        await pool.stop(threads)
    }
}

extension RoomWorker {
    func deliver(_ text: String, sequence: Int, in room: RoomID) throws {
        let record = JournalRecord(
            partition: 0, room: room,
            content: .message(author: try .test("anna"), session: nil, bytes: Array(text.utf8)),
            sequence: UInt64(sequence), loggedAt: MonotonicClock.now())
        deliver(record, mustNotBeLost: true)
    }
}

/// Services started and stopped on one nats-server with JetStream.
struct DurableClass: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body, then stops everything, also if the body throws.
    static func with(
        partitions: Int = 1, _ adjust: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (DurableClass) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration()
        configuration.journal = JournalSettings()
        configuration.partitions = partitions
        adjust(&configuration)
        let settings = configuration
        try await NATSTestServer.withConnection(jetStream: true) { nats, client in
            try await body(DurableClass(nats: nats, client: client, configuration: settings))
        }
    }

    /// The same with the address of a room.
    static func withRoom(
        _ room: String, partitions: Int = 1, _ adjust: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (DurableClass, RoomAddress) async throws -> Void
    ) async throws { try await with(partitions: partitions, adjust) { try await body($0, try $0.address(room)) } }

    func address(_ room: String) throws -> RoomAddress { try configuration.address(room) }

    /// Runs a service while `body` runs, then shuts it down.
    func serve<Result: Sendable>(
        as name: String = "a", _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await RunningDaemon.with(named(name), nats, body)
    }

    /// Starts another service.
    func daemon(_ name: String) async throws -> RunningDaemon { try await RunningDaemon(named(name), nats) }

    private func named(_ name: String) -> ServerConfiguration {
        var configuration = configuration
        configuration.name = name
        return configuration
    }
}

extension NATSConnection {
    /// Publishes to the journal and waits for the acknowledgement.
    func publishDurably(_ text: String, to address: RoomAddress, author: String = "anna") async throws {
        let reply = try await request(Array(text.utf8), to: address.subject(.input(try .test(author))))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        // An error reply has a "seq", too.
        guard answer.contains(#""seq""#), !answer.contains(#""error""#) else {
            throw Unexpected("not acknowledged: \(answer)")
        }
    }

    /// The whole answer to a request, however many parts it has.
    /// - Throws: the `RequestError` that it is.
    func answer(_ request: [UInt8] = [], from subject: String) async throws -> [UInt8] {
        let bytes = try await requestParts(request, to: subject, timeout: .hangLimit).payload
        if let error = RequestError(decoding: bytes) { throw error }
        return bytes
    }

    func journal(of partitions: Int = 1, _ settings: JournalSettings = JournalSettings()) -> JetStreamJournal {
        JetStreamJournal(root: "ink", partitions: partitions, settings: settings, connection: self, logger: .silent)
    }

    func checkpoints(of partitions: Int = 1) -> CheckpointStore {
        CheckpointStore(root: "ink", partitions: partitions, connection: self, logger: .silent)
    }

    /// A journal of one partition whose streams are there.
    func makeJournal() async throws -> JetStreamJournal {
        let journal = journal()
        _ = try await journal.provision(0)
        return journal
    }

    func join(_ address: RoomAddress, cohort: CohortName = .main) async throws -> JoinReply {
        try JoinReply(
            decoding: try await requestParts(
                JoinRequest().encoded(), to: address.subject(.join(cohort)), timeout: .seconds(30),
                repeatingFor: .hangLimit
            ).payload)
    }
}

extension JoinReply {
    /// The strokes of a whole board.
    var visible: [JoinedOperation] {
        get throws {
            guard case .board(_, _, let visible, _, _) = content else { throw Unexpected("no board") }
            return visible
        }
    }

    /// The operations after those that a student has.
    var tail: [JoinedOperation] {
        get throws {
            guard case .tail(let operations) = content else { throw Unexpected("no tail") }
            return operations
        }
    }
}

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

/// Records replies in order. Each one but refusals waits at a gate, which keeps the sending thread busy until a test opens
/// it.
final class ReplyRecorder: Sendable {
    enum Reply: Sendable, Equatable {
        case sent([UInt8])
        case refused(RequestError)

        var error: RequestError? { if case .refused(let error) = self { error } else { nil } }
    }

    private let replies: AsyncStream<(String, Reply)>
    private let continuation: AsyncStream<(String, Reply)>.Continuation
    private let gate = DispatchSemaphore(value: 0)

    init() { (replies, continuation) = AsyncStream.makeStream() }

    var sink: ReplySink {
        ReplySink(
            send: { [self] bytes, _, subject in
                continuation.yield((subject, .sent(bytes)))
                gate.wait()
            }, refuse: { [self] subject, error in continuation.yield((subject, .refused(error))) })
    }

    /// The next replies, by subject.
    func next(_ count: Int = 1) async throws -> [String: Reply] {
        let replies = replies
        return try await withDeadline(.seconds(60)) {
            var some: [String: Reply] = [:]
            for await (subject, reply) in replies {
                some[subject] = reply
                if some.count == count { break }
            }
            return some
        }
    }

    /// Lets so many replies pass the gate.
    func open(_ count: Int) {
        for _ in 0..<count { gate.signal() }
    }
}
