import Foundation
import NATSTestServer
import TestSupport
import Testing

@testable import NATSClient

@Suite struct JetStreamTests {
    private func withStream(_ body: @Sendable (JetStream) async throws -> Void) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { server, nats in
            let jetStream = JetStream(nats)
            _ = try await jetStream.provision(StreamConfiguration(name: "S", subjects: ["s.*"]))
            try await body(jetStream)
        }
    }

    @Test
    func `A message is acknowledged with its place, and a repeat with the place of the first`() async throws {
        try await withStream { jetStream in
            let first = try await jetStream.publish([1], to: "s.a", headers: ["Nats-Msg-Id": "x"])
            #expect((first.stream, first.sequence, first.isDuplicate) == ("S", 1, false))
            #expect(try await jetStream.publish([1], to: "s.b").sequence == 2)
            let repeated = try await jetStream.publish([1], to: "s.a", headers: ["Nats-Msg-Id": "x"])
            #expect((repeated.sequence, repeated.isDuplicate) == (1, true))
        }
    }

    @Test func `Many messages are deleted and no others; those that are gone are passed over`() async throws {
        try await withStream { jetStream in
            for number in 0..<300 { _ = try await jetStream.publish([UInt8(number % 256)], to: "s.a") }
            let doomed = (1...300).filter { $0 % 2 == 0 }.map { UInt64($0) }
            try await jetStream.deleteMessages("S", [7, 8], overwriting: true)
            var gone: [Int] = []
            try await jetStream.deleteMessages("S", doomed) { gone.append($0) }
            #expect(gone.last == 150 && gone.count > 1 && gone == gone.sorted())
            #expect(try await jetStream.streamInfo("S").messages == 149)
            #expect(try await jetStream.message("S", 9) != nil)
            try await jetStream.deleteMessages("S", 1..<300)
            #expect(try await jetStream.streamInfo("S").messages == 0)
            try await jetStream.deleteMessages("S", [])
            await #expect(throws: JetStreamError.self) { try await jetStream.deleteMessages("NONE", [1]) }
        }
    }

    @Test func `A copy of which parts were lost between two connections is no copy`() async throws {
        struct Request: Decodable { var deliverSubject: String }
        try await NATSTestServer.withConnection { server, nats in
            // In the place of a server that gives a copy up, and says that it has ended.
            try await NATSConnection.with(server) { giver in
                let asked = Recorder<String>()
                try giver.subscribe("$JS.API.STREAM.SNAPSHOT.S") { message in
                    let request = try? APIBody.decode(Request.self, from: message.copyPayload())
                    guard let inbox = request?.deliverSubject, let reply = message.reply else { return }
                    let state = #"{"messages":3,"bytes":3,"first_seq":1,"last_seq":3}"#
                    try? giver.publish(Array(#"{"config":{},"state":\#(state)}"#.utf8), to: reply)
                    try? giver.publish([1], to: inbox)
                    asked.append(inbox)
                }
                try await giver.flush()
                let taken = Recorder<[UInt8]>()
                let copying = Task { try await JetStream(nats).snapshot(of: "S") { taken.append($0) } }
                try await eventually("the first part has come", is: taken.values == [[1]])
                let generation = nats.generation
                try nats.core.current().end("cut by the test")
                try await eventually("it is connected", is: nats.generation > generation && nats.state == .connected)
                let inbox = try #require(asked.values.first)
                for part in [[3], []] as [[UInt8]] { try giver.publish(part, to: inbox) }
                await #expect(throws: JetStreamError.connection(.disconnected)) { _ = try await copying.value }
                #expect(taken.values == [[1]])
            }
        }
    }

    @Test func `In a cluster a copy has all messages of a stream with gaps, and then as many replicas`() async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            try await NATSConnection.with(servers[0]) { nats in
                let jetStream = JetStream(nats)
                var stream = StreamConfiguration(name: "S", subjects: ["s.*"])
                stream.replicas = 3
                let configuration = stream
                // Servers that have just met elect a leader first.
                _ = try await eventually("there is a stream") { try? await jetStream.provision(configuration) }
                for _ in 1...12 { _ = try await jetStream.publish([1], to: "s.a") }
                try await jetStream.deleteMessages("S", [1, 4, 5, 9])
                try await jetStream.copy("S", to: "COPY", label: "")
                try await eventually("the copy is whole", is: await jetStream.streamInfo("COPY").messages == 8)
                try await jetStream.setReplicas(3, of: "COPY")
                try await eventually("all servers have it", is: await jetStream.streamInfo("COPY").currentCopies == 2)
                #expect(try await jetStream.streamInfo("COPY").messages == 8)
            }
        }
    }

    @Test func `A deleted stream is listed by no server of a cluster`() async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            try await NATSConnection.with(servers[0]) { nats in
                let jetStream = JetStream(nats)
                for number in 1...30 {
                    var stream = StreamConfiguration(name: "S\(number)", subjects: ["s\(number)"])
                    stream.replicas = number % 2 == 0 ? 3 : 1
                    let configuration = stream
                    // Servers that have just met elect a leader first, which hears of a stream after those that keep it.
                    _ = try await eventually("there is a stream") { try? await jetStream.provision(configuration) }
                    try await eventually(
                        "it is listed", is: await jetStream.streamNames(beginningWith: "S") == [configuration.name])
                    try await jetStream.delete(stream.name)
                    #expect(try await jetStream.streamNames(beginningWith: "S") == [])
                    let error = await #expect(throws: JetStreamError.self) {
                        try await jetStream.streamInfo(configuration.name)
                    }
                    #expect(error?.isStreamMissing == true, "\(error as Any)")
                }
            }
        }
    }

    @Test func `A message that no stream captures is an error, and so is one that the stream refuses`() async throws {
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

    @Test func `Refusals of a full stream are counted by stream, accepted messages are not`() async throws {
        try await withStream { jetStream in
            var small = StreamConfiguration(name: "SMALL", subjects: ["small"])
            small.maxBytes = 4096
            small.discard = .new
            _ = try await jetStream.provision(small)
            let refused = RefusedPublishes(jetStream.connection)
            for subject in ["small", "s.a"] {
                for _ in 0..<10 {
                    try jetStream.connection.publish(
                        [UInt8](repeating: 1, count: 1000), to: subject, reply: refused.reply)
                }
            }
            try await eventually("the refusals have come", is: refused.counts == ["SMALL": 7])
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

    @Test
    func `From a place on where all messages are deleted, or that is beyond the end, none is found`() async throws {
        try await withStream { jetStream in
            for number in 1...4 as ClosedRange<UInt8> { _ = try await jetStream.publish([number], to: "s.a") }
            try await jetStream.deleteMessages("S", [3, 4])
            #expect(try await jetStream.streamInfo("S").lastSequence == 4)
            #expect(try await jetStream.nextMessage("S", subject: ">", from: 2)?.sequence == 2)
            #expect(try await jetStream.nextMessage("S", subject: ">", from: 3) == nil)
            #expect(try await jetStream.nextMessage("S", subject: ">", from: 9) == nil)
            try await jetStream.purge("S", before: 5)
            #expect(try await jetStream.nextMessage("S", subject: ">", from: 1) == nil)
        }
    }

    @Test
    func `A stream that takes longer to read than anybody waits for one message is read to its end`() async throws {
        try await withStream { jetStream in
            for _ in 1...300 { _ = try await jetStream.publish([], to: "s.a") }
            let read = Recorder<UInt64>()
            let start = ContinuousClock.now
            let serverTime = try await jetStream.readToEnd(
                OrderedConsumerSettings(stream: "S", start: 1), logger: .silent,
                timeout: .milliseconds(250), decode: { _, metadata in metadata.streamSequence }
            ) { sequence in
                read.append(sequence)
                // A slow reader.
                usleep(5000)
            }.get()
            #expect(start.duration(to: .now) > .milliseconds(1000))
            #expect(read.values == Array(1...300))
            let last = try #require(try await jetStream.message("S", 300)).time
            #expect((last...last + 60_000_000_000).contains(serverTime))
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

@Suite struct ServerTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-21T07:07:06.300431443Z", 1_795_244_826_300_431_443),
        ("2026-11-21T07:07:06.3Z", 1_795_244_826_300_000_000),
        ("2026-11-21T09:37:06.3+02:30", 1_795_244_826_300_000_000),
        ("2026-11-20T23:07:06.3-08:00", 1_795_244_826_300_000_000),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2024-02-29T12:00:00Z", 1_709_208_000_000_000_000),
    ])
    func `Times of the server are exact to the nanosecond`(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try ServerTime.parse(text) == nanoseconds)
    }

    @Test(arguments: [
        "", "now", "2026-11-21", "2026-11-21T07:07:06", "2026-11-21T07:07:06.Z", "2026-11-21T07:07:06.0000000001Z",
        "2026-13-21T07:07:06Z", "2026-11-21T07:07:06Zulu", "2026-11-21T07:07:06+2:00", "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z", "2026-11-21 07:07:06Z",
    ])
    func `A malformed time, or one of another age, is an error`(_ text: String) {
        #expect(throws: JetStreamError.malformed("time \(text)")) { try ServerTime.parse(text) }
    }
}

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
