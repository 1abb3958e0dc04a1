import Testing

@testable import NATSClient

@Suite struct ReplyCollectorTests {
    private let reply = NATSReply(subject: "_INBOX.x.1", payload: [7])

    @Test func `One reply is enough for a plain request`() {
        var collector = ReplyCollector.one
        let outcome = collector.receive(reply)
        #expect(outcome == .success([reply]))
        #expect(collector.gathered == nil)
    }

    @Test func `A request to many gathers until its time is over`() {
        var collector = ReplyCollector.many([], bytes: 0)
        for _ in 0..<3 {
            let outcome = collector.receive(reply)
            #expect(outcome == nil)
        }
        #expect(collector.gathered == [reply, reply, reply])
    }

    @Test func `A request to many ends early when it has too many replies`() throws {
        var collector = ReplyCollector.many([], bytes: 0)
        for _ in 1..<ReplyCollector.maxReplies {
            let outcome = collector.receive(reply)
            #expect(outcome == nil)
        }
        let outcome = collector.receive(reply)
        #expect(try outcome?.get().count == ReplyCollector.maxReplies)
    }

    @Test func `A malformed part fails the request`() {
        var collector = ReplyCollector.parts(PartAssembly(maxBytes: 10))
        let malformed = NATSReply(subject: "s", payload: [], headers: ["Ink-Part": "x"])
        let outcome = collector.receive(malformed)
        #expect(outcome == .failure(.malformedReply("Ink-Part: x")))
    }
}
