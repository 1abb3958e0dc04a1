#if DEBUG
import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct DeliveryTimeTests {
    @Test func `in a debug build a handler that computes on the shared thread ends the program`() async throws {
        try await NATSTestServer.with { server in
            _ = await #expect(processExitsWith: .failure) { [url = server.url as String] in
                let connection = NATSConnection(NATSSettings(url: url), logger: .silent)
                try await connection.connect()
                try connection.subscribe("work") { _ in
                    let end = ThreadClock.now() + .seconds(1)
                    while ThreadClock.now() < end {}
                }
                try await connection.flush()
                _ = try? await connection.request(to: "work", timeout: .hangLimit)
            }
        }
    }

    @Test func `one that waits, and one on the connection's own thread, do not`() async throws {
        try await NATSTestServer.withConnection { server, connection in
            // Once: on a busy machine the connection is lost meanwhile, and the request comes again.
            let isFirst = Locked(true)
            try connection.subscribe("work", on: .connection) { message in
                if isFirst.exchange(false) {
                    let end = ThreadClock.now() + .seconds(1)
                    while ThreadClock.now() < end {}
                }
                if let reply = message.reply { try? connection.publish([], to: reply) }
            }
            try await connection.flush()
            _ = try await connection.requestParts(to: "work", timeout: .hangLimit, repeatingFor: .hangLimit)
        }
    }
}
#endif
