import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Replies of several daemons")
struct ListingRepliesTests {
    @Test("parts find together however daemons interleave", arguments: 1...50 as ClosedRange<UInt64>)
    func interleaved(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Daemon i sends i parts, 1 of them without a header.
        let bodies = (1...5).map { daemon in Array(repeating: UInt8(daemon), count: 10 * daemon) }
        var queues = bodies.enumerated().map { daemon, body in
            (daemon == 0 ? [Answer(payload: body)] : Answer.parts(body, daemon + 1))[...]
        }
        var replies: [NATSReply] = []
        while let next = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
            let answer = queues[next].removeFirst()
            replies.append(NATSReply(subject: "_INBOX.x", payload: answer.payload, headers: answer.headers))
        }
        #expect(ListingReplies.bodies(of: replies).sorted { $0.count < $1.count } == bodies, "seed \(seed)")
    }

    @Test("daemons with as many parts each, one after the other")
    func alike() {
        let bodies = [Array("first list".utf8), Array("second list".utf8)]
        let replies = bodies.flatMap { Answer.parts($0, 3) }.map {
            NATSReply(subject: "_INBOX.x", payload: $0.payload, headers: $0.headers)
        }
        #expect(ListingReplies.bodies(of: replies) == bodies)
    }

    @Test(
        "incomplete replies and senseless headers are left out",
        arguments: ["0/1", "2/1", "1/2", "2/2", "-1/1", "1/0", "1", "a/b", "1/1/1", "", "9223372036854775808/1"])
    func senseless(part: String) {
        let reply = NATSReply(subject: "_INBOX.x", payload: [1], headers: [HeaderName.part: part])
        #expect(ListingReplies.bodies(of: [reply]).isEmpty)
    }
}
