import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct BackupTests {
    private static func run(_ arguments: String..., exits code: Int32 = 0) async throws -> String {
        let (exit, log) = try await LecternProcess.run(arguments: arguments)
        #expect(exit == code, "\(log)")
        return log
    }

    /// What a daemon says of a room: its incarnation, index and digest, and the whole board.
    private static func state(
        of room: String, on nats: NATSTestServer, at position: String = ""
    ) async throws -> (room: AnyJSON, board: String) {
        let (daemon, http) = try await DaemonProcess.servingHTTP("reader", nats: nats.url)
        let state = try await eventually("the room is there") {
            let answer = try await http.get("/api/rooms/\(room)")
            return answer.statusCode == 200 ? answer : nil
        }
        let board = try await http.get("/api/rooms/\(room)/board.json?cohort=head\(position)")
        #expect(board.statusCode == 200)
        #expect(await daemon.terminate() == 0)
        return (try AnyJSON.decode(state.bytes), board.text)
    }

    @Test func `a backup made during a class restores it as it was at one moment, and one made after it restores all`()
        async throws
    {
        let (during, after) = (try TestFiles.path("during"), try TestFiles.path("after"))
        try await NATSTestServer.with(jetStream: true) { original in
            let daemon = try await DaemonProcess.serving(
                "a", nats: original.url, ["checkpoint.interval=1s", "checkpoint.operations=5"])
            let teacher = try LecternProcess([
                "publish", "demo", "--room", "lesson", "--author", "anna", "--speed", "10", "--nats", original.url,
                "--quiet",
            ])
            let progress = try await eventually("the lesson has begun") {
                let info = try await LecternProcess.run("rooms", "--nats", original.url).log
                return info.contains("lesson") ? info : nil
            }
            #expect(!progress.isEmpty)
            _ = try await Self.run("backup", during, "--nats", original.url)
            #expect(!teacher.hasExited, "the backup is to be made while the class goes on")
            #expect(await teacher.exitCode() == 0)
            let told = try await Self.run("backup", after, "--nats", original.url)
            #expect(told.contains("INK_LOG_0") && told.contains("INK_CHECKPOINT_0") && told.contains("streams"))
            #expect(await daemon.terminate() == 0)
            let (room, board) = try await Self.state(of: "lesson", on: original)

            try await NATSTestServer.with(jetStream: true) { second in
                _ = try await Self.run("restore", after, "--nats", second.url)
                let (other, copy) = try await Self.state(of: "lesson", on: second)
                #expect(other["incarnation"] == room["incarnation"])
                #expect(other["index"] == room["index"] && other["digest"] == room["digest"])
                #expect(copy == board)
                // Nothing is replaced unless that is asked for.
                let refused = try await Self.run("restore", after, "--nats", second.url, exits: 1)
                #expect(refused.contains("there are streams already"))
                _ = try await Self.run("restore", during, "--replace", "--nats", second.url)
                let earlier = try await Self.state(of: "lesson", on: second).room
                #expect(earlier["incarnation"] == room["incarnation"] && earlier["index"] != room["index"])
            }
            try await NATSTestServer.with(jetStream: true) { third in
                _ = try await Self.run("restore", during, "--nats", third.url)
                let (other, copy) = try await Self.state(of: "lesson", on: third)
                guard case .number(let index)? = other["index"], case .number(let last)? = room["index"],
                    case .string(let incarnation)? = other["incarnation"]
                else { throw Unexpected("no index in \(other)") }
                #expect(other["incarnation"] == room["incarnation"])
                #expect(index > 0 && index < last, "\(index) of \(last)")
                let then = try await Self.state(
                    of: "lesson", on: original, at: "&room=\(incarnation)&index=\(Int(index))")
                #expect(copy == then.board)
            }
        }
    }

    @Test func `one that is killed while it is made is no backup, and harms neither the class nor the next one`()
        async throws
    {
        let seed = TestSeed.choose()
        let whole = try TestFiles.path("whole")
        let before = try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            var random = SeededGenerator(seed: seed)
            let daemon = try await DaemonProcess.serving("a", nats: nats.url)
            for number in 1...100 {
                let stroke = #"{"n":\#(number),"t":0,"d":[{"x":1,"y":\#(number)}]}"#
                _ = try await connection.request(Array(stroke.utf8), to: "ink.0.lesson.in.anna")
            }
            let begun = Locked(0)
            _ = try connection.subscribe("$JS.API.STREAM.SNAPSHOT.*") { _ in begun.withLock { $0 += 1 } }
            try await connection.flush()
            for round in 1...rounds(4) {
                let folder = try TestFiles.path("killed-\(round)")
                let moment = random.int(1...5)
                begun.withLock { $0 = 0 }
                let process = try LecternProcess(["backup", folder, "--nats", nats.url])
                try await eventually(
                    "\(moment) streams are being copied", every: .milliseconds(1),
                    is: begun.withLock { $0 } >= moment || process.hasExited)
                process.send(SIGKILL)
                await process.end()
                print("killed in copy \(begun.withLock { $0 })")
                let (code, told) = try await LecternProcess.run("restore", folder, "--check")
                // It may have ended before.
                #expect(told.contains(code == 0 ? ": whole" : "has no backup"), "\(told)")
            }
            _ = try await Self.run("backup", whole, "--nats", nats.url)
            #expect(await daemon.terminate() == 0)
            return try await Self.state(of: "lesson", on: nats)
        }
        try await NATSTestServer.with(jetStream: true) { nats in
            _ = try await Self.run("restore", whole, "--nats", nats.url)
            let after = try await Self.state(of: "lesson", on: nats)
            #expect(after.room["index"] == .number(100) && after.room["digest"] == before.room["digest"])
            #expect(after.board == before.board)
        }
    }

    @Test func `the guide's user for backups may make and restore them`() async throws {
        let folder = try TestFiles.path("backup")
        let guide = try String(
            contentsOfFile: PackageRoot.path(to: "Sources/lectern/Operating.docc/BackingUp.md"), encoding: .utf8)
        let user = try #require(guide.split(separator: "```").first { $0.contains("user: backup") })
            .replacing("$INK_BACKUP_PASSWORD", with: "secret")
        let accounts = """
            accounts { LECTERN { jetstream: enabled, users: [{ user: service, password: service }, \(user)] } }
            """
        try await NATSTestServer.with(jetStream: true, configuration: accounts) { nats in
            let address = "127.0.0.1:\(nats.port)"
            let daemon = try await DaemonProcess.serving("a", nats: "nats://service:service@\(address)")
            _ = try await Self.run("backup", folder, "--nats", "nats://backup:secret@\(address)")
            #expect(await daemon.terminate() == 0)
        }
        try await NATSTestServer.with(jetStream: true, configuration: accounts) { nats in
            _ = try await Self.run("restore", folder, "--nats", "nats://backup:secret@127.0.0.1:\(nats.port)")
        }
    }

    @Test func `rooms that are being moved are not backed up, and nothing is restored beside a stream of the root`()
        async throws
    {
        let folder = try TestFiles.path("backup")
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try await DaemonProcess.serving("a", nats: nats.url)
            #expect(await daemon.terminate() == 0)
            try await NATSConnection.with(nats) { connection in
                let jetStream = JetStream(connection)
                try await jetStream.copy("INK_LOG_0", to: "INK_MOVING_LOG_0", label: "")
                let refused = try await Self.run("backup", folder, "--nats", nats.url, exits: 1)
                #expect(refused.contains("there is INK_MOVING_LOG_0: a lectern repartition"), "\(refused)")
                try await jetStream.delete("INK_MOVING_LOG_0")
            }
            _ = try await Self.run("backup", folder, "--nats", nats.url)
        }
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let jetStream = JetStream(connection)
            for (other, isOfRoot) in [("INK_LOG_7", true), ("INK_MOVING_LOG_0", true), ("INK_A_LOG_0", false)] {
                _ = try await jetStream.provision(StreamConfiguration(name: other, subjects: ["other"]))
                let told = try await Self.run("restore", folder, "--nats", nats.url, exits: isOfRoot ? 1 : 0)
                #expect(told.contains("there are streams already: \(other);") == isOfRoot, "\(told)")
                try await jetStream.delete(other)
            }
        }
    }

    @Test func `a damaged backup is told of, and nothing is restored`() async throws {
        let folder = try TestFiles.path("backup")
        try await NATSTestServer.with(jetStream: true) { nats in
            let none = try await Self.run("backup", folder, "--nats", nats.url, exits: 1)
            #expect(none.contains("no logs of the root ink"))
            let file = try TestFolder().write("", "file")
            let inFile = try await Self.run("backup", file, "--nats", nats.url, exits: 1)
            #expect(inFile == "lectern: \(file): File exists\n")
            let daemon = try await DaemonProcess.serving("a", nats: nats.url)
            try await NATSConnection.with(nats) { connection in
                _ = try await connection.request(
                    Array(#"{"n":1,"t":0,"d":[{"x":1,"y":1}]}"#.utf8), to: "ink.0.lesson.in.anna")
            }
            _ = try await Self.run("backup", folder, "--nats", nats.url)
            #expect(await daemon.terminate() == 0)
            let again = try await Self.run("backup", folder, "--nats", nats.url, exits: 1)
            #expect(again.contains("is not empty"))
        }
        let whole = try await Self.run("restore", folder, "--check")
        #expect(whole.contains("whole") && whole.contains("INK_LOG_0"))
        let file = URL(fileURLWithPath: "\(folder)/INK_LOG_0.snapshot")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let damaged = try await Self.run("restore", folder, "--check", exits: 1)
        #expect(damaged.contains("INK_LOG_0.snapshot is damaged"))
        let other = folder + "/INK_CHECKPOINT_0.snapshot"
        try FileManager.default.moveItem(atPath: other, toPath: other + ".away")
        let missing = try await Self.run("restore", folder, "--check", exits: 1)
        #expect(missing.contains("INK_CHECKPOINT_0.snapshot is missing"))
        try FileManager.default.moveItem(atPath: other + ".away", toPath: other)
        try await NATSTestServer.with(jetStream: true) { [folder] nats in
            let refused = try await Self.run("restore", folder, "--nats", nats.url, exits: 1)
            #expect(refused.contains("is damaged"))
            try await NATSConnection.with(nats) { connection in
                let streams = try await JetStream(connection).streamNames(beginningWith: "")
                #expect(streams.isEmpty)
            }
        }
    }
}
