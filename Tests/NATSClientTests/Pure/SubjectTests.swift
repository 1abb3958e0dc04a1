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
