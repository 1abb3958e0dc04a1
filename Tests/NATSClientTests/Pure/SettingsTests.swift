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

@Suite struct ServerURLTests {
    @Test(
        arguments: [
            ("nats://h:4222", false, nil, nil, "h:4222"),
            ("h", false, nil, nil, "h"),
            ("tls://ada:secret@h:4222/", true, "ada", "secret", "h:4222"),
            ("nats://token@h", false, "token", nil, "h"),
            ("nats://ada:p%40ss%3Aw%2Frd%2C%25@[::1]:4222", false, "ada", "p@ss:w/rd,%", "[::1]:4222"),
            ("nats://ada:p@ss:w/rd%@h:4222", false, "ada", "p@ss:w/rd%", "h:4222"),
            ("nats://ada:50%off+%4@h", false, "ada", "50%off+%4", "h"),
            ("nats://ada:%C3%A4@h", false, "ada", "ä", "h"),
        ] as [(String, Bool, String?, String?, String)])
    func `User and password are decoded, and what is no escape stands for itself`(
        text: String, isSecure: Bool, user: String?, password: String?, address: String
    ) throws {
        let url = try ServerURL(text)
        #expect(url.isSecure == isSecure)
        #expect(url.user == user)
        #expect(url.password == password)
        #expect(url.address == address)
    }

    @Test(arguments: [
        "", "nats://", "http://h:1", "nats://a@", "nats://a:b@h/x", "nats://a%3Ab:c@h", "nats://a:%00@h",
        "nats://a:%FF@h", ",", "nats://a,tls://b",
    ])
    func `What is no list of URLs of one kind is refused, and nothing of it is repeated`(text: String) {
        #expect {
            _ = try ServerURL.list(text)
        } throws: { error in
            guard case NATSError.invalidSettings(let why) = error else { return false }
            return !why.contains("%")
        }
    }
}
