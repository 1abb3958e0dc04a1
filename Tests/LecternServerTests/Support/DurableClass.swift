import Journal
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// Services that come and go over one nats-server with JetStream.
struct DurableClass: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body and takes everything down again, also when the body throws.
    static func with(
        partitions: Int = 1, _ adjust: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (DurableClass) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration()
        configuration.journal = JournalSettings()
        configuration.partitions = partitions
        adjust(&configuration)
        let settings = configuration
        try await NATSTestServer.with(jetStream: true) { nats in
            try await NATSConnection.with(nats) { client in
                try await body(DurableClass(nats: nats, client: client, configuration: settings))
            }
        }
    }

    func address(_ room: String) throws -> RoomAddress { try configuration.address(room) }

    /// Runs a service while `body` runs, then ends it in an orderly way.
    func serve<Result: Sendable>(
        as name: String = "a", _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await RunningDaemon.with(named(name), nats, body)
    }

    /// One service more.
    func daemon(_ name: String) async throws -> RunningDaemon { try await RunningDaemon(named(name), nats) }

    private func named(_ name: String) -> ServerConfiguration {
        var configuration = configuration
        configuration.name = name
        return configuration
    }
}

extension NATSConnection {
    /// Publishes to the journal and waits until it has it.
    func publishDurably(_ text: String, to address: RoomAddress, author: String = "anna") async throws {
        guard let id = AuthorID(author) else { throw Unexpected("not an author: \(author)") }
        let reply = try await request(Array(text.utf8), to: address.subject(.input(id)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains(#""seq""#) else { throw Unexpected("not acknowledged: \(answer)") }
    }

    func join(_ address: RoomAddress, cohort: CohortName = .main) async throws -> JoinReply {
        try JoinReply(
            decoding: try await requestParts(JoinRequest().encoded(), to: address.subject(.join(cohort))).payload)
    }
}
