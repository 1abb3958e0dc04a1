import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport

/// The service on a nats-server of its own, and a client connection to try it with.
struct RunningService: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body and takes everything down again, also when the body throws.
    static func with(
        _ configuration: ServerConfiguration = ServerConfiguration(),
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { nats in
            try await RunningDaemon.with(configuration, nats) {
                try await NATSConnection.with(nats) { client in
                    try await body(RunningService(nats: nats, client: client, configuration: configuration))
                }
            }
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
    func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomAddress(root: root, room: id, partitions: partitions)
    }
}
