// What operators do to running daemons: the commands of `lectern` for rooms, erasing, tokens, backups and partitions,
// with what interrupts them, and the alerts of a real Prometheus.

import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// `lectern rooms` and `lectern close` beside a daemon.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct RoomCommandTests {
    private func withDaemon(
        _ settings: [String] = [],
        _ body: @escaping @Sendable (DaemonProcess, NATSTestServer, NATSConnection) async throws -> Void
    ) async throws {
        try await BoardService.with(settings) { try await body($0.daemon, $0.nats, $0.connection) }
    }

    private func stroke(_ number: Int) -> String {
        #"{"n":\#(number),"t":1000,"w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
    }

    /// Three operations, two visible strokes; `main` has seen all, `hls` nothing.
    private func write(_ room: String, on connection: NATSConnection, isStored: Bool = true) async throws {
        let ann = try ScriptedAuthor("ann", room: room, on: connection, isStored: isStored)
        try ann.clock(5000)
        try ann.clock(0, "hls")
        try await ann.send(stroke(1), appliedAt: 1)
        try await ann.send(stroke(2), appliedAt: 2)
        try await ann.send(stroke(3), appliedAt: 3)
        try await ann.send(#"{"n":4,"a":2,"t":1000}"#, appliedAt: 4)
    }

    @Test func `rooms lists no rooms, then each room with its cohorts, as a table and as JSON`() async throws {
        try await withDaemon { _, nats, connection in
            let none = try await LecternProcess.run("rooms", "--nats", nats.url)
            #expect(none.exitCode == 0)
            #expect(none.log == "no rooms\n")
            for room in ["lesson", "a"] { try await write(room, on: connection) }
            let table = """
                ROOM    ADDRESS       INDEX  STROKES  AUTHORS  COHORTS
                a       ink.0.a       4      2        1        hls R=0 held=4 V=0.0, main R=4 held=0 V=5.0
                lesson  ink.0.lesson  4      2        1        hls R=0 held=4 V=0.0, main R=4 held=0 V=5.0

                """
            // A list may be a second old.
            try await eventually("both rooms are listed") {
                let (code, log) = try await LecternProcess.run("rooms", "--nats", nats.url)
                #expect(code == 0)
                return log == table ? () : nil
            }
            let (code, log) = try await LecternProcess.run("rooms", "--json", "--nats", nats.url)
            #expect(code == 0)
            let rooms = try log.split(separator: "\n").map { try AnyJSON.decode(Array($0.utf8)) }
            #expect(rooms.map { $0["room"] } == [.string("a"), .string("lesson")])
            for room in rooms {
                #expect(room["index"] == .number(4))
                #expect(room["visible"] == .number(2))
                #expect(room["digest"] == .string(plainDigestText([1, 2])))
                #expect(room["board"] == .object(["w": .number(400), "h": .number(300)]))
                // On a busy machine the clocks may be silent by now.
                guard case .array(var cohorts)? = room["cohorts"] else { throw Unexpected("no cohorts") }
                for place in cohorts.indices { cohorts[place]["live"] = nil }
                #expect(
                    cohorts == [
                        .object([
                            "cohort": .string("hls"), "index": .number(0), "held": .number(4), "v": .number(0),
                            "gate": .string("video"),
                        ]),
                        .object([
                            "cohort": .string("main"), "index": .number(4), "held": .number(0), "v": .number(5000),
                            "gate": .string("video"),
                        ]),
                    ])
            }
        }
    }

    @Test func `rooms has status 3 and names the partitions that nobody has answered for`() async throws {
        try await NATSTestServer.withConnection { nats, connection in
            let page = #"{"page":{"service":"a","number":1,"count":1,"partitions":3,"covered":[1]},"rooms":[]}"#
            try connection.answer("ink.rooms") { _ in Array(page.utf8) }
            try await connection.flush()
            let (code, log) = try await LecternProcess.run("rooms", "--json", "--nats", nats.url)
            #expect(code == 3)
            #expect(log.contains("rooms may be missing: no service has answered for partition 0, 2\n"), "\(log)")
        }
    }

    @Test func `replay plays the lesson of a room again, as far as its students have seen it`() async throws {
        try await withDaemon { _, nats, connection in
            try await write("lesson", on: connection)
            @Sendable func replay(
                _ arguments: String..., input: String? = nil
            ) async throws -> (code: Int32?, lines: [AnyJSON], log: String) {
                let file = try TestFiles.url("times")
                try input.map { try Data($0.utf8).write(to: file) }
                let process = try LecternProcess(
                    ["replay", "--nats", nats.url, "--room"] + arguments, input: input.map { _ in file.path })
                let code = await process.exitCode()
                let lines = process.log.split(separator: "\n").filter { $0.hasPrefix("{") }
                return (code, try lines.map { try AnyJSON.decode(Array($0.utf8)) }, process.log)
            }
            let (code, lines, log) = try await replay("lesson", "--speed", "0")
            #expect(code == 0, "\(log)")
            #expect(lines.map { $0["index"] } == [.number(1), .number(2), .number(3), .number(4)])
            #expect(lines.allSatisfy { $0["e"] == .number(1000) && $0["ep"] == .number(0) })
            #expect(lines.last?["digest"] == .string(plainDigestText([1, 2])))
            #expect(try await replay("lesson", "--cohort", "hls", "--speed", "0").lines.isEmpty)
            #expect(try await replay("lesson", "--cohort", "hls", "--head", "--speed", "0").lines.count == 4)

            let player = try await replay("lesson", "--times", input: "1000.5\n1000\n2000\n")
            #expect(player.lines.map { $0["index"] } == [.number(4), .number(0), .number(4)])
            #expect(player.lines.map { $0["visible"] } == [.number(2), .number(0), .number(2)])
            #expect(player.lines.dropFirst().first?["moved"] == .bool(true))

            let unknown = try await replay("nothing")
            #expect(unknown.code == 1 && unknown.log.contains("Nobody has written"))
            #expect(try await replay("lesson", "--times", input: "soon\n").code == 1)
        }
    }

    @Test func `export writes the board of a room, of a PDF all pages, as far as a cohort has seen it`() async throws {
        let folder = try TestFiles.folder("export")
        try await withDaemon { _, nats, connection in
            try await write("lesson", on: connection)
            let ben = try ScriptedAuthor("ben", room: "lesson", on: connection)
            try await ben.send(#"{"n":1,"t":1000,"g":1,"c":1,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#, appliedAt: 5)
            @Sendable func export(_ file: String, _ arguments: String...) async throws -> (text: String, log: String) {
                let path = folder.appendingPathComponent(file).path
                let process = try LecternProcess(
                    ["export", "--nats", nats.url, "--room", "lesson", "-o", path] + arguments)
                guard await process.exitCode() == 0 else { throw Unexpected(process.log) }
                return (String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self), process.log)
            }
            let document = try await export("board.pdf")
            #expect(document.text.hasPrefix("%PDF-") && document.text.contains("/Count 2"))
            #expect(document.log.contains("board.pdf: operation 5, "), "\(document.log)")
            #expect(try await export("board.png", "--width", "64").text.contains("PNG"))
            let red = "#d92020"
            #expect(try await !export("first.svg").text.contains(red))
            #expect(try await export("second.svg", "--page", "1").text.contains(red))
            #expect(try await !export("hls.svg", "--cohort", "hls", "--page", "1").text.contains(red))

            let path = folder.appendingPathComponent("none.svg").path
            let unknown = try await LecternProcess.run("export", "--nats", nats.url, "--room", "nothing", "-o", path)
            #expect(unknown.exitCode == 1 && unknown.log.hasPrefix("lectern: the service refused: "), "\(unknown.log)")
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await LecternProcess.run("export", "--room", "lesson", "-o", "board").exitCode == 64)
        }
    }

    @Test(arguments: [[], ["journal.mode=none"]])
    func `close, or erase without a journal, ends a room for good; the next message begins it anew`(
        _ settings: [String]
    ) async throws {
        try await withDaemon(settings) { daemon, nats, connection in
            let released = Recorder<String>()
            try connection.subscribe("ink.0.lesson.head") { released.append($0.header("Ink-Room") ?? "") }
            try await write("lesson", on: connection, isStored: settings.isEmpty)
            let (code, log) = try await LecternProcess.run("close", "lesson", "--nats", nats.url)
            #expect(code == 0)
            let closed = "closed ink.0.lesson, with 4 operations and 2 strokes on the board"
            // The four messages came before it.
            #expect(log == (settings.isEmpty ? "\(closed); in the journal at 5\n" : "\(closed)\n"))
            if !settings.isEmpty {
                // Without a journal the daemon's log has the audit.
                let line = try #require(daemon.lines(with: "command=close").first)
                #expect(line.contains("who=operator") && line.contains("room=lesson") && line.contains("outcome=done"))
                let audit = try await LecternProcess.run("audit", "--nats", nats.url)
                #expect(audit.exitCode == 1 && audit.log.contains("daemon's log"), "\(audit.log)")
            }
            let again = try await LecternProcess.run("close", "lesson", "--nats", nats.url)
            #expect(again.exitCode == 1)
            #expect(again.log == "lectern: nobody has written to the room lesson: there is nothing to close\n")

            try connection.publish(Array(stroke(1).utf8), to: "ink.0.lesson.in.ann")
            let lives = try await released.values(5)
            #expect(Set(lives.prefix(4)).count == 1)
            #expect(lives[4] != lives[0] && lives[4] != "")
            try await eventually("the room has one operation") {
                let rooms = try await LecternProcess.run("rooms", "--json", "--nats", nats.url).log
                return rooms.contains(#""index":1,"#) && !rooms.contains(#""index":4,"#) ? () : nil
            }
            guard !settings.isEmpty else { return }
            // Without a journal erase ends it as well.
            let erased = try await LecternProcess.run("erase", "lesson", "--yes", "--nats", nats.url)
            #expect(erased.exitCode == 0 && erased.log.contains("nothing is stored"), "\(erased.log)")
            try await eventually(
                "the room has ended", is: await LecternProcess.run("rooms", "--nats", nats.url).log == "no rooms\n")
        }
    }

    @Test
    func `close has status 3 while the service has not read the decision; the next daemon reads it`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let daemon = try await DaemonProcess.serving("a", nats: nats.url)
            try await write("lesson", on: connection)
            let room = try await connection.request(to: "ink.0.lesson.info").payload
            #expect(await daemon.terminate() == 0)
            // A service that still answers and writes decisions, but reads the journal no more.
            let stale = [
                try connection.subscribe("ink.0.lesson.info") { message in
                    if let reply = message.reply { try? connection.publish(room, to: reply) }
                },
                try connection.subscribe("ink.command.operator") { message in
                    guard let reply = message.reply else { return }
                    try? connection.publish(Array(#"{"v":1,"kind":"close"}"#.utf8), to: "ink.0.lesson.ctl")
                    try? connection.publish(Array(#"{"done":true,"sequence":5}"#.utf8), to: reply)
                },
            ]
            try await connection.flush()
            let (code, log) = try await LecternProcess.run("close", "lesson", "--nats", nats.url)
            #expect(code == 3)
            #expect(
                log == """
                    to be closed: ink.0.lesson, with 4 operations and 2 strokes on the board; in the journal at 5, \
                    the service has yet to read it

                    """)
            for subscription in stale { subscription.unsubscribe() }

            let next = try await DaemonProcess.serving("b", nats: nats.url)
            let again = try await LecternProcess.run("close", "lesson", "--nats", nats.url)
            #expect(again.exitCode == 1)
            #expect(again.log == "lectern: nobody has written to the room lesson: there is nothing to close\n")
            #expect(await next.terminate() == 0)
        }
    }

    @Test func `audit lists who has closed which room for whom, as a table and as JSON`() async throws {
        try await withDaemon { _, nats, connection in
            let none = try await LecternProcess.run("audit", "--nats", nats.url)
            #expect(none.exitCode == 0 && none.log == "no commands\n", "\(none.log)")
            for room in ["lesson", "other"] { try await write(room, on: connection) }
            _ = try await LecternProcess.run("close", "lesson", "--nats", nats.url, "--as", "otto", "--for", "room 12")
            _ = try await LecternProcess.run("close", "other", "--nats", nats.url)
            let (code, log) = try await LecternProcess.run("audit", "--nats", nats.url, "--since", "1d")
            #expect(code == 0)
            let rows = log.split(separator: "\n").map { $0.split(separator: #/ {2,}/#).map(String.init) }
            #expect(rows.first == ["AT", "WHO", "FOR", "COMMAND", "ROOM", "TARGET", "OUTCOME"])
            #expect(
                rows.dropFirst().map { Array($0.dropFirst()) } == [
                    ["otto", "room 12", "close", "lesson", "-", "done"],
                    ["operator", "-", "close", "other", "-", "done"],
                ])
            let one = try await LecternProcess.run("audit", "--nats", nats.url, "--room", "other", "--json")
            let entry = try AnyJSON.decode(Array(one.log.utf8))
            #expect(entry["who"] == .string("operator") && entry["outcome"] == .string("done"))
            #expect(entry["room"] == .string("other") && entry["command"] == .string("close"))
        }
    }

    @Test func `without a service, or without NATS, commands say so`() async throws {
        let file = try TestFiles.write("<ink><trace>1 2, 3 4</trace></ink>", "ink.inkml")
        let commands = [
            (["rooms"], "lectern: no service answers at ink.rooms\n"), (["close", "lesson"], "no service answers"),
            (["import", file, "--room", "a", "--author", "ann"], "nobody answers at ink.0.a"),
        ]
        try await NATSTestServer.with { nats in
            for (command, reason) in commands {
                let (code, log) = try await LecternProcess.run(arguments: command + ["--nats", nats.url])
                #expect(code == 1 && log.contains(reason), "\(log)")
            }
            await nats.stop()
            // They try for 5 s, side by side here.
            for process in try commands.map({ try LecternProcess($0.0 + ["--nats", nats.url]) }) {
                #expect(await process.exitCode() == 2, "\(process.log)")
                #expect(
                    process.log.contains(":\(nats.port)") && process.log.contains("Start a server"), "\(process.log)")
            }
        }
    }
}

/// `lectern demo` to its end.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct DemoTests {
    /// Plays a lesson in a folder of its own, and draws what it leaves behind once more.
    private func play(
        _ arguments: [String], operations: Int, before: Int = 0, assets: [String] = [], entries: Int
    ) async throws -> String {
        let folder = try TestFiles.url("demo")
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        let demo = try LecternProcess(
            ["demo", "--speed", "50", "--latency", "1s", "--output", folder.path] + arguments)
        #expect(await demo.exitCode() == 0, "\(demo.log)")
        #expect(demo.log.contains("applied    \(operations) operations, 0 rejected"), "\(demo.log)")
        #expect(demo.log.contains("released   \(operations + before) operations to the student, 0 early"))
        #expect(demo.log.contains("board      \(entries) entries") && demo.log.contains(" as in the lesson\n"))
        #expect(!demo.log.contains("problem"))
        // The picture is the one that the lesson left behind makes without any server.
        let (code, log) = try await LecternProcess.run(
            arguments: ["render", path("lesson.ndjson"), "-o", path("again.png")]
                + assets.flatMap { ["--asset", path($0)] })
        #expect(code == 0, "\(log)")
        #expect(log.contains("operation \(operations + before), "), "\(log)")
        let picture = try Data(contentsOf: folder.appendingPathComponent("board.png"))
        #expect(picture.count > 10_000)
        #expect(try Data(contentsOf: folder.appendingPathComponent("again.png")) == picture)
        #expect(try Data(contentsOf: folder.appendingPathComponent("pages.pdf")).starts(with: Array("%PDF-".utf8)))
        return demo.log
    }

    @Test
    func `the demo shows its student every operation on slides, and leaves slides, lesson and board`() async throws {
        let log = try await play([], operations: 109, before: 5, assets: ["slides.pdf"], entries: 84)
        for page in 1...3 { #expect(log.contains("student    has a slide on page \(page)\n")) }
        let turns = log.matches(of: /student    sees page ([0-9])/).map { String($0.1) }
        #expect(turns == ["1", "2", "3", "0", "2"])
        #expect(log.contains("student    sees a part of page 2 move"))
    }

    @Test func `a lesson without slides is played on blank paper`() async throws {
        let log = try await play(["--lesson", "demo"], operations: 289, entries: 101)
        #expect(!log.contains("slide"))
    }
}
