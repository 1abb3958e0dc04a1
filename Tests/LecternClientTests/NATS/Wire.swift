import Logging
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

/// What the tests over a real NATS server share.
enum Wire {
    static let logger: Logger = {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        return logger
    }()

    /// A connection that is made.
    static func connect(_ server: NATSTestServer) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: server.url, name: "test"), logger: logger)
        try await connection.connect()
        return connection
    }

    static func address() throws -> RoomAddress {
        RoomAddress(root: "ink", room: try #require(RoomID("lesson-7")), partitions: 1)
    }
}
