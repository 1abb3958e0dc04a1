// How a daemon starts, stops and fails: settings, signals, systemd, damaged logs, power cuts, full disks, and which of several
// daemons serves. Where a class goes on meanwhile, it is a `Lesson`.

import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct StartTests {
    @Test func `a NATS server without JetStream is reported with a hint until it has JetStream`() async throws {
        let plan = Lesson.Plan(mayLose: true)
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("nats-\(UUID())")
        defer { try? FileManager.default.removeItem(at: store) }
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess("plain", nats: nats.url)
            try await daemon.waitForLog("JetStream")
            try await daemon.waitForLog("journal.mode")
            #expect(!daemon.log.contains(" serving"))
            try await nats.restart(configuration: "jetstream: { store_dir: \"\(store.path)\" }")
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
        }
    }

    @Test func `a NATS server that takes too small messages ends a daemon that starts, and a running one is not ready`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true, configuration: "max_payload: 65536") { nats in
            let refused = try DaemonProcess("refused", nats: nats.url)
            #expect(await refused.exitCode() == 1)
            #expect(refused.log.contains("at most 65536 bytes (max_payload); the service needs 266240"))
            #expect(refused.log.contains("or lower limits.message_bytes to 61440"))

            let (daemon, http) = try await DaemonProcess.servingHTTP(
                "a", nats: nats.url, ["limits.message_bytes=60KiB"])
            #expect(try await http.get("/readyz").statusCode == 200)
            try await nats.restart(configuration: "max_payload: 32768")
            try await daemon.waitForLog("the service needs 65536")
            // Until all connections are back it is for want of those.
            try await eventually("the limit is why it is not ready") {
                let answer = try await http.get("/readyz")
                return answer.statusCode == 503 && answer.text.contains("max_payload") ? () : nil
            }
            try await nats.restart(configuration: "max_payload: 65536")
            try await eventually("it is ready again", is: await http.get("/readyz").statusCode == 200)
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `streams deleted while a daemon serves are created again if configured`() async throws {
        let plan = Lesson.Plan(mayLose: true)
        try await NATSTestServer.with(jetStream: true) { nats in
            _ = try await DaemonProcess.serving("a", nats: nats.url, ["journal.recreate_streams=true"])
            try await NATSConnection.with(nats) { connection in
                for stream in ["INK_LOG_0", "INK_CHECKPOINT_0"] {
                    _ = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.DELETE.\(stream)")
                }
            }
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
        }
    }

    @Test
    func `streams deleted while a daemon serves are waited for, and served when they are back`() async throws {
        var plan = Lesson.Plan(mayLose: true)
        plan.partitions = 2
        let partition = RoomAddress.partition(of: try #require(RoomID(plan.room)), among: plan.partitions)
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            let (daemon, http) = try await DaemonProcess.servingHTTP(
                "a", nats: nats.url, ["subjects.partitions=\(plan.partitions)"])
            @Sendable func isServing(_ partitions: Double) async throws -> Bool {
                let serving = try Exposition(try await http.get("/metrics").text)["lectern_partitions_serving"]
                let isReady = try await http.get("/readyz").statusCode == 200
                return serving == partitions && isReady == (partitions == 2)
            }
            #expect(try await isServing(2))
            try await NATSConnection.with(nats) { connection in
                var saved: [String: [UInt8]] = [:]
                for stream in ["INK_LOG_\(partition)", "INK_CHECKPOINT_\(partition)"] {
                    let info = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.INFO.\(stream)")
                    let answer = try JSONSerialization.jsonObject(with: Data(info.payload)) as? [String: Any]
                    saved[stream] = Array(try JSONSerialization.data(withJSONObject: answer?["config"] ?? [:]))
                    _ = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.DELETE.\(stream)")
                }
                try await daemon.waitForLog("streams are gone")
                try await eventually("it serves the other partition alone", is: await isServing(1))
                let names = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.NAMES")
                let listed = String(decoding: names.payload, as: UTF8.self)
                #expect(saved.keys.allSatisfy { !listed.contains($0) })
                for (stream, configuration) in saved {
                    _ = try await connection.request(configuration, to: "$JS.API.STREAM.CREATE.\(stream)")
                }
            }
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
            try await eventually("it serves again", is: await isServing(2))
        }
    }

    @Test func `streams deleted while no daemon runs are waited for, and a daemon that ends meanwhile never served`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            let before = try await DaemonProcess.serving("a", nats: nats.url)
            try await NATSConnection.with(nats) { connection in
                try await eventually("the root is in use") {
                    _ = try await JetStream(connection).streamInfo("INK_REVOKED")
                }
                #expect(await before.terminate() == 0)
                for stream in ["INK_LOG_0", "INK_CHECKPOINT_0"] {
                    _ = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.DELETE.\(stream)")
                }
                let after = try DaemonProcess("a", nats: nats.url)
                try await after.waitForLog("INK_LOG_0 and INK_CHECKPOINT_0 existed and are gone")
                let names = try await JetStream(connection).streamNames(beginningWith: "INK_")
                #expect(!names.contains("INK_LOG_0") && !names.contains("INK_CHECKPOINT_0"))
                #expect(await after.terminate() == 0)
                #expect(after.log.contains("stopped") && !after.log.contains(" serving"))
            }
        }
    }

    @Test func `a port in use is the only error reported`() async throws {
        // The port of any server will do.
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("late", nats: nats.url, http: "127.0.0.1:\(nats.port)")
            #expect(await daemon.exitCode() == 1)
            #expect(daemon.log.contains("\nlectern stops: cannot listen on 127.0.0.1:\(nats.port): the port is taken."))
            #expect(daemon.lines(with: " error ").isEmpty, "\(daemon.log)")
        }
    }
}

/// Daemons on one root with incompatible settings.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct IncompatiblePeerTests {
    @Test
    func `a daemon with another number of partitions refuses to start, and names the other daemon`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let first = try await DaemonProcess.serving("first", nats: nats.url, ["subjects.partitions=2"])
            // Also if it is started again under the same name before the failure timeout.
            for _ in 1...3 {
                let second = try DaemonProcess("second", nats: nats.url, ["subjects.partitions=4"])
                #expect(await second.exitCode() == 1)
                #expect(second.log.contains("subjects.partitions is 4 here and 2 there"))
                #expect(second.log.contains("\nlectern stops: the daemon \"first\" is on the root"))
                #expect(second.lines(with: " error ").isEmpty && !second.log.contains(" serving"), "\(second.log)")
            }
            #expect(first.lines(with: "subjects.partitions is 2 here and 4 there").count == 1)
            #expect(await first.terminate() == 0)
        }
    }

    @Test func `a daemon with another number of partitions than the streams refuses to start`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let before = try await DaemonProcess.serving("before", nats: nats.url, ["subjects.partitions=4"])
            #expect(await before.terminate() == 0)
            for partitions in [2, 8] {
                let wrong = try DaemonProcess(
                    "wrong", nats: nats.url, http: "127.0.0.1:0",
                    ["subjects.partitions=\(partitions)", "logging.format=json"])
                #expect(await wrong.exitCode() == 1)
                #expect(!wrong.log.contains(#""serving""#))
                // The reason is the only error, and every line is JSON.
                let lines = try wrong.log.split(separator: "\n").map { try AnyJSON.decode(Array($0.utf8)) }
                let errors = lines.filter { $0["level"] == .string("error") }
                #expect(errors.map { $0["message"] } == [.string("lectern stops")], "\(wrong.log)")
                guard case .string(let reason)? = errors.first?["fields"]?["error"] else { throw Unexpected(wrong.log) }
                #expect(reason.contains("of 4 partitions, and subjects.partitions is \(partitions) here"))
                #expect(reason.contains("lectern repartition \(partitions)"))
            }
            try await NATSConnection.with(nats) { connection in
                let names = try await JetStream(connection).streamNames(beginningWith: "INK_LOG_")
                #expect(names.count == 4)
            }
            let after = try await DaemonProcess.serving("after", nats: nats.url, ["subjects.partitions=4"])
            #expect(await after.terminate() == 0)
        }
    }

    @Test func `daemons with incompatible journals cannot share a root`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let first = try await DaemonProcess.serving("first", nats: nats.url, ["journal.mode=none"])
            let second = try DaemonProcess(
                "second", nats: nats.url, http: "127.0.0.1:0", ["journal.mode=jetstream"])
            #expect(await second.exitCode() == 1)
            #expect(second.lines(with: " error ").isEmpty, "\(second.log)")
            #expect(second.log.contains("journal.mode is jetstream here and none there"))
            #expect(await first.terminate() == 0)
            let third = try await DaemonProcess.serving("third", nats: nats.url, ["journal.mode=jetstream"])
            #expect(await third.terminate() == 0)
        }
    }
}
