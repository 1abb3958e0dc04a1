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
    func `A text that is no list of URLs of one kind is refused, and nothing of it is repeated`(text: String) {
        #expect {
            _ = try ServerURL.list(text)
        } throws: { error in
            guard case NATSError.invalidSettings(let why) = error else { return false }
            return !why.contains("%")
        }
    }
}

@Suite struct SubjectTests {
    @Test(arguments: ["a", "ink.0.room-1.in.ada", "$JS.API.INFO", "_INBOX.x.1", "a.b*c.d>", "é"])
    func `Any text that NATS can carry is a subject`(_ subject: String) {
        #expect(Subject.isLiteral(subject))
        #expect(Subject.isPattern(subject))
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0\r\n", "a\0b", "a\u{7f}",
        String(repeating: "a", count: 1025),
    ])
    func `A subject that would break the protocol line is refused`(_ subject: String) {
        #expect(!Subject.isLiteral(subject))
        #expect(!Subject.isPattern(subject))
    }

    @Test(arguments: ["*", ">", "a.*", "a.*.b", "a.>", "*.*.>"])
    func `Wildcards are for subscribing only`(_ pattern: String) {
        #expect(!Subject.isLiteral(pattern))
        #expect(Subject.isPattern(pattern))
    }

    @Test(arguments: [">.a", "a.>.b"])
    func `The wildcard for a tail stands last`(_ pattern: String) {
        #expect(!Subject.isPattern(pattern))
    }
}

@Suite struct SubjectCoveringTests {
    @Test(arguments: [
        ("ink.0.*.in.*", "ink.0.*.in.*"), ("ink.0.>", "ink.0.*.in.*"), ("ink.0.>", "ink.0.*.checkpoint.>"),
        (">", "ink.0.*.ctl"), ("ink.*.*.ctl", "ink.0.*.ctl"), ("ink.0.*.ctl", "ink.0.physics.ctl"),
    ])
    func `A subject covers those that match no more`(_ wide: String, _ narrow: String) {
        #expect(Subject.pattern(wide, covers: narrow))
    }

    @Test(arguments: [
        ("ink.0.physics.in.*", "ink.0.*.in.*"), ("ink.0.*.in.*", "ink.0.>"), ("ink.0.*.*", "ink.0.*.>"),
        ("ink.0.>", "ink.0"), ("ink.0.*", "ink.0.*.ctl"), ("ink.1.>", "ink.0.*.ctl"), ("*", ">"),
    ])
    func `And no others`(_ wide: String, _ narrow: String) {
        #expect(!Subject.pattern(wide, covers: narrow))
    }
}

@Suite struct HeaderTests {
    @Test func `Headers keep their order and give the first value of a name`() {
        var headers: NATSHeaders = ["Ink-Index": "1", "Ink-Author": "ada"]
        headers.append("Ink-Index", "2")
        #expect(headers.fields.map(\.name) == ["Ink-Index", "Ink-Author", "Ink-Index"])
        #expect(headers["Ink-Index"] == "1")
        #expect(headers["ink-index"] == nil)
    }

    @Test(arguments: [
        ("", "v"), ("a b", "v"), ("a:", "v"), ("é", "v"), ("a\r\n", "v"),
        ("a", ""), ("a", "  "), ("a", "v\r\nb: w"), ("a", "v\0"),
    ])
    func `A header that would break the protocol is refused`(_ name: String, _ value: String) {
        #expect(!NATSHeaders.Field(name: name, value: value).isValid)
    }

    @Test func `A value may have blanks inside and letters of any language`() {
        #expect(NATSHeaders.Field(name: "Ink-Author", value: "ada lovelace é").isValid)
    }
}
