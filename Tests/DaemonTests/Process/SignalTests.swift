import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// Commands ended by a signal.
@Suite(.timeLimit(.minutes(10)), .endsProcesses) struct SignalTests {
    @Test func `SIGINT and SIGTERM end a student with status 0, a publisher with the signal's, both with a summary`()
        async throws
    {
        try await BoardService.with(["journal.mode=none"]) { service in
            for (signal, name) in [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")] {
                let room = ["--room", name.lowercased(), "--nats", service.nats.url]
                let watch = try LecternProcess(["watch"] + room)
                try await watch.waitForLog(#""event":"joined""#)
                watch.send(signal)
                #expect(await watch.exitCode() == 0)
                #expect(watch.log.contains("index 0: applied 0"))

                let publish = try LecternProcess(["publish", "demo", "--author", "ann"] + room)
                try await publish.waitForLog("applied 1 ")
                publish.send(signal)
                #expect(await publish.exitCode() == 128 + signal)
                #expect(publish.log.contains("not sent ") && publish.log.contains("ended by \(name)"))
            }
        }
    }

    @Test
    func `a daemon without a journal handles the messages buffered in NATS before it ends`() async throws {
        try await NATSTestServer.with { nats in
            let daemon = try await DaemonProcess.serving(
                "service", nats: nats.url,
                ["journal.mode=none", "limits.messages_per_second=100000", "limits.bytes_per_second=1GiB"])
            try await NATSConnection.with(nats) { connection in
                let seen = Recorder<String>()
                try connection.subscribe("ink.0.a.head") { seen.append($0.header("Ink-Index") ?? "") }
                // A suspended daemon reads nothing: the messages stay in the server.
                daemon.pause()
                let count = 5000
                for number in 1...count {
                    let stroke =
                        #"{"n":\#(number),"c":1,"l":4,"t":0,"w":400,"h":300,"d":[{"x":1,"y":1},{"x":9,"y":9}]}"#
                    try connection.publish(Array(stroke.utf8), to: "ink.0.a.in.ann")
                }
                try await connection.confirmPublished(timeout: .seconds(30))
                daemon.terminateSoon()
                daemon.resume()
                #expect(await daemon.exitCode() == 0)
                try await connection.confirmPublished(timeout: .seconds(30))
                #expect(try await seen.values(count) == (1...count).map(String.init))
            }
        }
    }

    @Test func `a student that never joined says so when a signal ends it`() async throws {
        try await NATSTestServer.with { nats in
            let watch = try LecternProcess(["watch", "--room", "a", "--nats", nats.url])
            try await watch.waitForLog("join failed")
            watch.send(SIGINT)
            #expect(await watch.exitCode() == 1)
            #expect(watch.log.contains("never joined: nobody answers at ink.0.a"))
        }
    }

    @Test func `a signal, also one sent several times at once, ends a video clock with its number of samples`()
        async throws
    {
        try await NATSTestServer.with { nats in
            for signals in [1, 50] {
                let clock = try LecternProcess(["clock", "--room", "a", "--nats", nats.url])
                try await clock.waitForLog("runs 2 s behind")
                for _ in 0..<signals {
                    clock.send(SIGINT)
                    await Task.yield()
                }
                #expect(await clock.exitCode() == 0)
                #expect(clock.log.contains("samples published: "))
            }
        }
    }

    @Test func `a signal ends an import whose service is silent`() async throws {
        let file = try TestFolder().write(
            #"<ink xmlns="http://www.w3.org/2003/InkML"><trace>10 0, 9 14, 8 28</trace></ink>"#, "notes.inkml")
        try await NATSTestServer.withConnection { nats, connection in
            let asked = Recorder<[UInt8]>()
            try connection.subscribe("ink.0.a.join-head") { asked.append($0.copyPayload()) }
            try await connection.flush()
            let importing = try LecternProcess(["import", file, "--room", "a", "--author", "ann", "--nats", nats.url])
            _ = try await asked.values(1)
            importing.send(SIGINT)
            #expect(await importing.exitCode() == 130)
        }
    }

    @Test func `a signal ends a replay with status 0, also one that waits for a line`() async throws {
        let folder = try TestFolder()
        let lesson = try folder.write(
            [0, 600_000].enumerated().map {
                #"{"n":\#($0 + 1),"c":1,"l":4,"t":\#($1),"w":400,"h":300,"d":[{"x":1,"y":1}]}"# + "\n"
            }.joined(), "lesson.ndjson")
        try await BoardService.with { service in
            let nats = service.nats
            let written = try await LecternProcess.run(
                "publish", lesson, "--room", "a", "--author", "ann", "--time", "media", "--speed", "1000", "--nats",
                nats.url)
            #expect(written.exitCode == 0, "\(written.log)")
            let replay = try LecternProcess(["replay", "--room", "a", "--head", "--nats", nats.url])
            try await replay.waitForLog(#""index":1"#)
            replay.send(SIGINT)
            #expect(await replay.exitCode() == 0)
            #expect(replay.log.contains("operations: 1 of 2"), "\(replay.log)")

            // A pipe that this process itself may write to has no end.
            let player = try LecternProcess(
                [
                    "-c",
                    """
                    mkfifo "$2"; exec 3<>"$2"; echo 0 >&3
                    exec "$0" replay --room a --head --times --nats "$1" <&3
                    """,
                    try LecternProcess.path(of: "lectern"), nats.url, folder.path("times"),
                ], at: "/bin/sh")
            try await player.waitForLog(#""v":0"#)
            player.send(SIGINT)
            #expect(await player.exitCode() == 0)
            #expect(try await LecternProcess.run("replay", "--room", "a", "--speed", "1e-20").exitCode == 64)
        }
    }

    @Test func `a demo ended by a signal prints its summary and leaves no files behind`() async throws {
        let folder = try TestFiles.folder("demo")
        let demo = try LecternProcess(
            ["demo", "--output", folder.appendingPathComponent("out").path], environment: ["TMPDIR": folder.path])
        try await demo.waitForLog("messages sent")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
        demo.send(SIGINT)
        #expect(await demo.exitCode() == 130)
        #expect(demo.log.contains("released "))
        #expect(demo.log.contains("by SIGINT after "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out"])
    }

    @Test func `a second signal ends a command that hangs`() async throws {
        try await NATSTestServer.with { nats in
            let publish = try LecternProcess(["publish", "demo", "--room", "a", "--author", "ann", "--nats", nats.url])
            try await publish.waitForLog("sent 1 ")
            // The command waits for the suspended server.
            await nats.pause()
            publish.send(SIGTERM)
            try await eventually("it has ended") {
                publish.send(SIGTERM)
                return publish.hasExited ? () : nil
            }
            #expect(await publish.exitCode() == 143)
            #expect(!publish.log.contains("ended by"))
            await nats.resume()
        }
    }
}

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct KillTests {
    @Test func `a NATS server killed and started again on its store loses nothing that it acknowledged`() async throws {
        let plan = Lesson.Plan(mayLose: true)
        try await Lesson.hold(plan) { nats, _ in
            var random = SeededGenerator(seed: plan.seed)
            var daemon = try DaemonProcess("a0", nats: nats.url)
            try await daemon.waitUntilServing()
            for round in 1...rounds(2) {
                try await Task.sleep(for: .milliseconds(random.int(500...2500)))
                await nats.kill()
                // Every other time the daemon is killed, too.
                if round.isMultiple(of: 2) {
                    await daemon.kill()
                    daemon = try DaemonProcess("a\(round)", nats: nats.url)
                }
                try await Task.sleep(for: .milliseconds(random.int(0...800)))
                try await nats.restart()
            }
            try await daemon.waitUntilServing()
        }
    }
}
