import LecternServer
import NATSClient
import StrokeWire
import TestSupport
import Testing

@Suite struct LeaderlessTests {
    @Test func `partitions whose coverage nobody acknowledges are closed side by side`() async throws {
        try await DurableClass.with(partitions: 4) { lesson in
            let daemon = try await lesson.daemon("a")
            // What JetStream without a leader looks like: somebody listens, and nobody answers.
            for partition in 0..<4 {
                _ = try await lesson.client.request(
                    Array("{}".utf8), to: "$JS.API.STREAM.DELETE.INK_CHECKPOINT_\(partition)")
            }
            let silence = try lesson.client.subscribe("ink.*.COVERED.checkpoint") { _ in }
            defer { silence.unsubscribe() }
            // Records of no room: they have to be noted, and leave nothing to be saved.
            for partition in 0..<4 {
                let reply = try await lesson.client.request(Array("{}".utf8), to: "ink.\(partition).NOBODY.in.anna")
                #expect(String(decoding: reply.payload, as: UTF8.self).contains(#""seq":1"#))
            }
            let start = ContinuousClock.now
            try await daemon.stop()
            // One note waits for 5 s.
            #expect(start.duration(to: .now) < .seconds(8))
        }
    }
}
