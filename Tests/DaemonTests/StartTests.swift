import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct StartTests {
    @Test func `a daemon that is started before its NATS server serves as soon as that is there`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            await nats.stop()
            let daemon = try DaemonProcess("early", nats: nats.url)
            try await daemon.waitForLog("cannot connect to NATS")
            try await nats.restart()
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `a NATS server without JetStream is told of, with what to do, until it has it`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("nats-\(UUID())")
        defer { try? FileManager.default.removeItem(at: store) }
        try await NATSTestServer.with { [plan] nats in
            let daemon = try DaemonProcess("plain", nats: nats.url)
            try await daemon.waitForLog("JetStream")
            try await daemon.waitForLog("journal.mode")
            #expect(!daemon.log.contains(" serving"))
            try await nats.restart(configuration: "jetstream: { store_dir: \"\(store.path)\" }")
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
        }
    }

    @Test func `streams that are deleted while a daemon serves are made again`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            let daemon = try DaemonProcess("a", nats: nats.url)
            try await daemon.waitUntilServing()
            try await NATSConnection.with(nats) { connection in
                for stream in ["INK_LOG_0", "INK_CHECKPOINT_0"] {
                    _ = try await connection.request(Array("{}".utf8), to: "$JS.API.STREAM.DELETE.\(stream)")
                }
            }
            let verdict = try await Lesson.hold(plan, on: nats.url) { try await $0.goesOn() }
            verdict.expect()
        }
    }

    @Test func `a port that is taken is told of alone`() async throws {
        // Any server's port will do.
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("late", nats: nats.url, http: "127.0.0.1:\(nats.port)")
            #expect(await daemon.exitCode(within: .seconds(30)) == 1)
            #expect(daemon.log.hasPrefix("lectern stops: cannot listen on 127.0.0.1:\(nats.port): the port is taken."))
        }
    }

    @Test func `a daemon that is ended before it served never says that it serves`() async throws {
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess("plain", nats: nats.url)
            try await daemon.waitForLog("partition not open yet")
            #expect(await daemon.terminate() == 0)
            #expect(daemon.log.contains("stopped"))
            #expect(!daemon.log.contains(" serving"))
        }
    }

    @Test func `without a journal no JetStream is needed`() async throws {
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess("volatile", nats: nats.url, ["journal.mode=none"])
            try await daemon.waitUntilServing()
            try await NATSConnection.with(nats) { connection in
                let released = Recorder<String>()
                try connection.subscribe("ink.0.lesson.out.main") { message in
                    released.append(message.header("Ink-Index") ?? "")
                }
                try await connection.flush()
                try connection.publish(Array(#"{"m":1000}"#.utf8), to: "ink.0.lesson.clock.main")
                try connection.publish(
                    Array(#"{"n":1,"t":0,"d":[{"x":1,"y":1}]}"#.utf8), to: "ink.0.lesson.in.anna")
                #expect(try await released.values(1) == ["1"])
            }
            #expect(await daemon.terminate() == 0)
        }
    }
}
