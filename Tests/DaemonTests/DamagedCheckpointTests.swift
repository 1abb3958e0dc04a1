import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct DamagedCheckpointTests {
    enum Damage: CaseIterable {
        case garbageManifest, partDeleted, unfinishedState, allPurged, streamDeleted
    }

    @Test func `whatever happens to checkpoints, rooms come back from what is left`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let settings = ["checkpoint.interval=1s", "checkpoint.operations=10"]
                var daemon = try DaemonProcess("a", nats: nats.url, settings)
                try await lesson.goesOn()
                for round in 1...rounds(1) {
                    for damage in Damage.allCases {
                        try await lesson.waitUntilSaved()
                        if round.isMultiple(of: 2) { await daemon.kill() } else { _ = await daemon.terminate() }
                        try await lesson.damage(damage)
                        daemon = try DaemonProcess("\(damage)".lowercased(), nats: nats.url, settings)
                        try await daemon.waitUntilServing()
                        try await lesson.goesOn(by: 15)
                    }
                }
            }
            verdict.expect()
        }
    }
}

extension Lesson {
    /// Returns when there is a state of the room to damage, and a manifest that names it.
    fileprivate func waitUntilSaved() async throws {
        try await eventually("the room is saved") {
            for subject in ["\(address).checkpoint.0", "\(address).checkpoint"] { _ = try await newest(subject) }
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
        case .unfinishedState: try await ask("\(address).checkpoint.0", garbage)
        case .partDeleted:
            let sequence = try await newest("\(address).checkpoint.0")
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
