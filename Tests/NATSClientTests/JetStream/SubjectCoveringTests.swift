import Testing

@testable import NATSClient

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
