import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct FullDiskTests {
    @Test func `a full journal refuses messages, keeps its records, and continues once there is space`() async throws {
        let plan = Lesson.Plan()
        try await Lesson.hold(plan) { nats, lesson in
            let settings = ["journal.max_bytes=1MiB", "checkpoint.interval=1s"]
            var daemon = try await DaemonProcess.serving("a", nats: nats.url, settings)
            try await lesson.goesOn()
            try await lesson.fillJournal()
            // A daemon can start although nothing can be written.
            await daemon.kill()
            daemon = try await DaemonProcess.serving("b", nats: nats.url, settings)
            try await JetStream(lesson.connection).update("INK_LOG_0", ["max_bytes": -1])
            try await lesson.goesOn()
        }
    }

    @Test func `a NATS server without space, also for checkpoints, loses nothing`() async throws {
        let plan = Lesson.Plan(mayLose: true)
        let small = "jetstream: { max_file_store: 1M }"
        try await Lesson.hold(plan, configuration: small) { nats, lesson in
            let settings = ["checkpoint.interval=1s"]
            var daemon = try await DaemonProcess.serving("a", nats: nats.url, settings)
            try await lesson.goesOn()
            try await lesson.fillJournal()
            try await daemon.waitForLog("checkpoint not saved")
            await daemon.kill()
            daemon = try await DaemonProcess.serving("b", nats: nats.url, settings)
            try await nats.restart(configuration: "jetstream: { max_file_store: 1G }")
            try await lesson.goesOn()
        }
    }
}

extension Lesson {
    /// Fills the journal with messages of another room until JetStream refuses those of the lesson.
    fileprivate func fillJournal() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)
        try await remember()
        let refused = teachers[0].progress.refusals
        try await eventually("JetStream refuses what teachers write") {
            _ = try await connection.request(body, to: "ink.0.filler.in.carl", timeout: .seconds(1))
            return teachers[0].progress.refusals > refused ? () : nil
        }
    }
}
