import NATSTestServer
import Testing

@testable import NATSClient

@Suite struct SettingsTests {
    @Test(
        arguments: [
            (Duration.milliseconds(250), 250), (.seconds(2), 2000), (.zero, 1), (.seconds(-5), 1),
            (.microseconds(10), 1),
            (.seconds(Int64.max), 31_536_000_000), (.seconds(Int64.min), 1),
        ] as [(Duration, Int64)])
    func `Durations become milliseconds that libnats takes`(_ duration: Duration, _ milliseconds: Int64) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }

    @Test func `Limits become numbers that libnats takes`() {
        var settings = NATSSettings()
        settings.maxPendingMessages = .max
        settings.maxPendingBytes = .max
        #expect(settings.pendingLimits == (1 << 20, .max))
        settings.maxPendingMessages = -1
        settings.maxPendingBytes = 0
        #expect(settings.pendingLimits == (1, 1))
    }

    @Test func `The time before the next attempt is drawn from its range`() {
        var settings = NATSSettings()
        settings.reconnectWait = .milliseconds(50) ... .milliseconds(250)
        let draws = (0..<200).map { _ in settings.drawReconnectWait() }
        #expect(draws.allSatisfy(settings.reconnectWait.contains))
        #expect(Set(draws).count > 1)
    }

    @Test(arguments: ["", ",", "no port here:x"])
    func `An address that is none is an error, not the default server`(_ url: String) async {
        let nats = NATSConnection(NATSSettings(url: url), logger: .silent)
        await #expect(throws: NATSError.self) { try await nats.connect(within: .milliseconds(100)) }
        #expect(nats.state == .closed)
    }
}
