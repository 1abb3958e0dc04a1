import Testing

@testable import NATSClient

@Suite struct SubjectTests {
    @Test(arguments: ["a", "ink.0.room-1.in.ada", "$JS.API.INFO", "_INBOX.x.1", "a.b*c.d>", "é"])
    func `What NATS can carry is a subject`(_ subject: String) {
        #expect(Subject.isLiteral(subject))
        #expect(Subject.isPattern(subject))
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0\r\n", "a\0b", "a\u{7f}",
        String(repeating: "a", count: 1025),
    ])
    func `What would break the protocol line is refused`(_ subject: String) {
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
