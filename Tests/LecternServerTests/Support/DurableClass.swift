import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Whiteboard

@testable import LecternServer

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

extension DurableClass {
    /// Joins until a cohort has reached an index; sets its clock again and again, as a video player does.
    func joined(_ address: RoomAddress, at index: UInt64) async throws -> JoinReply {
        try await eventually("the cohort is at \(index)") {
            try client.setClock(address, 1000)
            let reply = try await client.join(address)
            return reply.index >= index ? reply : nil
        }
    }

    /// Waits until the service has a room.
    func known(_ address: RoomAddress) async throws {
        try await eventually("\(address.room) is known") {
            let reply = try await client.request(to: address.subject(.info))
            return String(decoding: reply.payload, as: UTF8.self).contains(#""error""#) ? nil : ()
        }
    }

    func listing() async throws -> String {
        let replies = try await client.requestMany(to: "\(configuration.root).rooms", window: .milliseconds(100))
        return replies.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
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
