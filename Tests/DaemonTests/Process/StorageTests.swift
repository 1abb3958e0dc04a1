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

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct DamagedCheckpointTests {
    enum Damage: CaseIterable {
        case garbageManifest, partDeleted, unfinishedState, allPurged, streamDeleted
    }

    @Test func `rooms are restored from what is left of damaged checkpoints`() async throws {
        let plan = Lesson.Plan()
        try await Lesson.hold(plan) { nats, lesson in
            let settings = ["checkpoint.interval=1s", "checkpoint.operations=10"]
            var daemon = try DaemonProcess("a", nats: nats.url, settings)
            try await lesson.goesOn()
            for round in 1...rounds(1) {
                for damage in Damage.allCases {
                    try await lesson.waitUntilSaved()
                    if round.isMultiple(of: 2) { await daemon.kill() } else { _ = await daemon.terminate() }
                    try await lesson.damage(damage)
                    daemon = try await DaemonProcess.serving("\(damage)".lowercased(), nats: nats.url, settings)
                    try await lesson.goesOn(by: 15)
                }
            }
        }
    }
}

extension Lesson {
    /// Returns when there is a state of the room to damage, and its manifest.
    fileprivate func waitUntilSaved() async throws {
        try await eventually("the room is saved") {
            for subject in ["\(address).checkpoint.*.0", "\(address).checkpoint"] { _ = try await newest(subject) }
            return ()
        }
    }

    private func newest(_ subject: String) async throws -> Int {
        let answer = try await ask(
            "$JS.API.STREAM.MSG.GET.INK_CHECKPOINT_0", Array(#"{"last_by_subj":"\#(subject)"}"#.utf8))
        let message = try #require(answer["message"] as? [String: Any])
        return try #require(message["seq"] as? Int)
    }

    fileprivate func damage(_ damage: DamagedCheckpointTests.Damage) async throws {
        let garbage = Array("{\"v\":1,\"room\":".utf8)
        switch damage {
        case .garbageManifest: try await ask("\(address).checkpoint", garbage)
        case .unfinishedState: try await ask("\(address).checkpoint.2.0", garbage)
        case .partDeleted:
            let sequence = try await newest("\(address).checkpoint.*.0")
            try await ask("$JS.API.STREAM.MSG.DELETE.INK_CHECKPOINT_0", Array(#"{"seq":\#(sequence)}"#.utf8))
        case .allPurged: try await ask("$JS.API.STREAM.PURGE.INK_CHECKPOINT_0", Array("{}".utf8))
        case .streamDeleted: try await ask("$JS.API.STREAM.DELETE.INK_CHECKPOINT_0", Array("{}".utf8))
        }
    }

    @discardableResult
    private func ask(_ subject: String, _ body: [UInt8]) async throws -> [String: Any] {
        let reply = try await connection.request(body, to: subject, timeout: .seconds(5))
        let answer = try #require(try JSONSerialization.jsonObject(with: Data(reply.payload)) as? [String: Any])
        guard answer["error"] == nil else { throw Unexpected("\(subject): \(answer)") }
        return answer
    }
}
