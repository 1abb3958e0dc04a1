import NATSClient
import NATSTestServer
import ServiceLifecycle
import Testing

@testable import LecternGateway

@Suite("Listening", .timeLimit(.minutes(1)))
struct ListeningTests {
    @Test("a port that is taken ends the gateway, with an error that names the address")
    func taken() async throws {
        try await RunningGateway.with { gateway in
            let second = Gateway(
                GatewayConfiguration(port: gateway.port), connection: gateway.connection,
                registry: PrometheusRegistry(help: GatewayMetrics.help), logger: .silent)
            let error = await #expect(throws: ListenError.self) {
                try await ServiceGroup(services: [second], logger: .silent).run()
            }
            #expect(error?.description == "cannot listen on 127.0.0.1:\(gateway.port): the port is taken")
        }
    }

    @Test("an address of another machine ends it, too")
    func elsewhere() async throws {
        // An address for documentation (RFC 5737), which no machine has.
        let gateway = Gateway(
            GatewayConfiguration(host: "192.0.2.1", port: 0),
            connection: NATSConnection(NATSSettings(), logger: .silent),
            registry: PrometheusRegistry(help: GatewayMetrics.help), logger: .silent)
        let error = await #expect(throws: ListenError.self) {
            try await ServiceGroup(services: [gateway], logger: .silent).run()
        }
        #expect(error?.description == "cannot listen on 192.0.2.1:0: this machine has no such address")
    }
}
