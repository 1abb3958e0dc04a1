import NATSClient
import NATSTestServer
import StrokeWire
import Testing

/// What the tests over a real NATS server share.
enum Wire {
    /// A connection that is made.
    static func connect(_ server: NATSTestServer) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: server.url, name: "test"), logger: .silent)
        try await connection.connect()
        return connection
    }

    static func address() throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID("lesson-7")), partitions: 1)
    }
}
