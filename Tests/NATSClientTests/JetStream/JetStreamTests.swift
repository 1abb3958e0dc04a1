import NATSClient
import NATSTestServer
import Testing

@Suite struct JetStreamTests {
    private func withStream(_ body: @Sendable (JetStream) async throws -> Void) async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server) { nats in
                let jetStream = JetStream(nats)
                _ = try await jetStream.provision(StreamConfiguration(name: "S", subjects: ["s.*"]))
                try await body(jetStream)
            }
        }
    }

    @Test func `What is published is acknowledged with its place, and a repeat with the place of the first`()
        async throws
    {
        try await withStream { jetStream in
            let first = try await jetStream.publish([1], to: "s.a", headers: ["Nats-Msg-Id": "x"])
            #expect((first.stream, first.sequence, first.isDuplicate) == ("S", 1, false))
            #expect(try await jetStream.publish([1], to: "s.b").sequence == 2)
            let repeated = try await jetStream.publish([1], to: "s.a", headers: ["Nats-Msg-Id": "x"])
            #expect((repeated.sequence, repeated.isDuplicate) == (1, true))
        }
    }

    @Test func `What no stream captures is an error, and so is what the stream refuses`() async throws {
        try await withStream { jetStream in
            await #expect(throws: JetStreamError.notCaptured(subject: "t.a")) {
                try await jetStream.publish([1], to: "t.a")
            }
            let wrong: NATSHeaders = ["Nats-Expected-Stream": "T"]
            do throws(JetStreamError) {
                _ = try await jetStream.publish([1], to: "s.a", headers: wrong)
                Issue.record("accepted")
            } catch .api(let code, let number, let text) {
                #expect((code, number) == (400, 10060))
                #expect(!text.isEmpty)
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func `Messages are found by place, by subject, and from a place on`() async throws {
        try await withStream { jetStream in
            for (number, subject) in ["s.a", "s.b", "s.a"].enumerated() {
                _ = try await jetStream.publish([UInt8(number)], to: subject)
            }
            let second = try #require(try await jetStream.message("S", 2))
            #expect((second.subject, second.sequence, second.payload) == ("s.b", 2, [1]))
            #expect(try await jetStream.lastMessage("S", subject: "s.a")?.sequence == 3)
            #expect(try await jetStream.nextMessage("S", subject: "s.a", from: 2)?.sequence == 3)
            #expect(try await jetStream.nextMessage("S", subject: "s.a", from: 0)?.sequence == 1)
            #expect(try await jetStream.message("S", 4) == nil)
            #expect(try await jetStream.lastMessage("S", subject: "s.c") == nil)
            #expect(try await jetStream.nextMessage("S", subject: "s.b", from: 3) == nil)
        }
    }

    @Test func `A stream is told as it stands`() async throws {
        try await withStream { jetStream in
            for _ in 1...3 { _ = try await jetStream.publish([1, 2], to: "s.a") }
            let info = try await jetStream.streamInfo("S")
            #expect((info.firstSequence, info.lastSequence, info.messages) == (1, 3, 3))
            #expect(info.bytes > 6)
            #expect(info.configuration.subjects == ["s.*"])
            let written = try #require(try await jetStream.message("S", 1))
            #expect(written.time > info.created)
            #expect(written.time - info.created < 60_000_000_000)
            do throws(JetStreamError) {
                _ = try await jetStream.streamInfo("T")
                Issue.record("found")
            } catch {
                #expect(error.isStreamMissing)
            }
        }
    }
}
