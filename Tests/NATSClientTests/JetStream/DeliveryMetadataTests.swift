import TestSupport
import Testing

@testable import NATSClient

@Suite struct DeliveryMetadataTests {
    private func parse(_ subject: String) -> DeliveryMetadata? {
        Array(subject.utf8).withUnsafeBytes { DeliveryMetadata(acknowledgementSubject: $0) }
    }

    @Test(arguments: [
        "$JS.ACK.INK_LOG_0.c0.1.31.7.1795246416351530216.1469",
        "$JS.ACK.hub.ACCHASH.INK_LOG_0.c0.1.31.7.1795246416351530216.1469",
        "$JS.ACK._.ACCHASH.INK_LOG_0.c0.1.31.7.1795246416351530216.1469.x8Q",
    ])
    func `Both forms of the subject are read`(_ subject: String) {
        let expected = DeliveryMetadata(
            streamSequence: 31, consumerSequence: 7, time: 1_795_246_416_351_530_216, pending: 1469)
        #expect(parse(subject) == expected)
    }

    @Test(arguments: [
        "", "$JS.ACK.", "$JS.FC.INK_LOG_0.c0.x", "_INBOX.x.1", "$JS.ACK.S.c.1.2.3.4", "$JS.ACK.S.c.1.2.3.4.5.6",
        "$JS.ACK.S.c.1..3.4.5", "$JS.ACK.S.c.1.2.3.4.x", "$JS.ACK.S.c.1.2.3.4.-5",
        "$JS.ACK.S.c.1.99999999999999999999.3.4.5", "$JS.ACK.S.c.1.2.3.18446744073709551615.5",
        "$JS.ACK.d.h.S.c.1.2.3.4.5.r.more",
    ])
    func `Anything else is none`(_ subject: String) {
        #expect(parse(subject) == nil)
    }

    @Test func `Random bytes do no harm`() {
        var generator = SeededGenerator(seed: TestSeed.choose())
        let alphabet = Array("..0123456789ab$".utf8)
        for _ in 0..<5000 {
            let tail = (0..<Int.random(in: 0..<60, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            _ = (Array("$JS.ACK.".utf8) + tail).withUnsafeBytes { DeliveryMetadata(acknowledgementSubject: $0) }
        }
    }
}
