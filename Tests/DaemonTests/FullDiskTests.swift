import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct FullDiskTests {
    @Test func `a journal that is full says no, keeps what it has, and goes on when there is space again`() async throws
    {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let settings = ["journal.max_bytes=1MiB", "checkpoint.interval=1s"]
                var daemon = try DaemonProcess("a", nats: nats.url, settings)
                try await daemon.waitUntilServing()
                try await lesson.goesOn()
                try await lesson.fillJournal()
                // A daemon can begin although nothing more can be written.
                await daemon.kill()
                daemon = try DaemonProcess("b", nats: nats.url, settings)
                try await daemon.waitUntilServing()
                try await lesson.setJournalLimit(-1)
                try await lesson.goesOn()
            }
            verdict.expect()
        }
    }

    @Test func `a server without space for checkpoints either loses nothing`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        let small = "jetstream: { max_file_store: 1M }"
        try await NATSTestServer.with(jetStream: true, configuration: small) { [plan] nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let settings = ["checkpoint.interval=1s"]
                var daemon = try DaemonProcess("a", nats: nats.url, settings)
                try await daemon.waitUntilServing()
                try await lesson.goesOn()
                try await lesson.fillJournal()
                try await daemon.waitForLog("checkpoint not saved")
                await daemon.kill()
                daemon = try DaemonProcess("b", nats: nats.url, settings)
                try await daemon.waitUntilServing()
                try await nats.restart(configuration: "jetstream: { max_file_store: 1G }")
                try await lesson.goesOn()
            }
            verdict.expect()
        }
    }
}

extension Lesson {
    /// Fills the journal with messages of another room until JetStream takes none of the class any more.
    fileprivate func fillJournal() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)
        try await remember()
        let refused = pens[0].progress.refusals
        try await eventually("JetStream refuses what teachers write") {
            _ = try await connection.request(body, to: "ink.0.filler.in.carl", timeout: .seconds(1))
            return pens[0].progress.refusals > refused ? () : nil
        }
    }

    /// Sets the bytes that the journal may take, as an operator does.
    fileprivate func setJournalLimit(_ bytes: Int) async throws {
        let info = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.INFO.INK_LOG_0")
        let answer = try JSONSerialization.jsonObject(with: Data(info.payload)) as? [String: Any]
        var configuration = try #require(answer?["config"] as? [String: Any])
        configuration["max_bytes"] = bytes
        let request = try JSONSerialization.data(withJSONObject: configuration)
        let reply = try await connection.request(Array(request), to: "$JS.API.STREAM.UPDATE.INK_LOG_0")
        #expect(!String(decoding: reply.payload, as: UTF8.self).contains(#""error""#))
    }
}
