package import Logging
package import NATSClient

extension NATSSettings {
    /// Settings for a test's own server, with short waits before reconnecting.
    package init(_ server: NATSTestServer, user: String? = nil) {
        let credentials = user.map { "\($0):\($0)@" } ?? ""
        self.init(url: "nats://\(credentials)127.0.0.1:\(server.port)", name: "test")
        reconnectWait = .milliseconds(5) ... .milliseconds(20)
    }
}

extension NATSConnection {
    /// Runs a body with a connection to a test's own server, and closes it afterwards.
    package static func with<Result: Sendable>(
        _ server: NATSTestServer, _ configure: (inout NATSSettings) -> Void = { _ in },
        _ body: @Sendable (NATSConnection) async throws -> Result
    ) async throws -> Result {
        var settings = NATSSettings(server)
        configure(&settings)
        let connection = NATSConnection(settings, logger: .silent)
        try await connection.connect(within: .seconds(30))
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Records the state changes from now on.
    package func recordStates() -> Recorder<ConnectionState> {
        let states = Recorder<ConnectionState>()
        onStateChange { states.append($0) }
        return states
    }
}

extension Logger {
    /// Logs nothing: errors of the server are expected here.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
