import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// `lectern erase` beside a daemon.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct EraseTests {
    /// The files of a server's store with a text. Not counted: the logs by which the servers of a cluster agree, which
    /// they shorten themselves after minutes.
    private func count(_ text: String, in server: NATSTestServer) throws -> Int {
        guard let folder = server.store else { throw Unexpected("the server has no store") }
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return paths.count { path in
            guard !path.contains("/_js_/") else { return false }
            let data = try? Data(contentsOf: URL(filePath: folder).appending(path: path))
            return data?.range(of: Data(text.utf8)) != nil
        }
    }

    @Test func `erase asks, deletes, is recorded, and shows how far it is`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let daemon = try await DaemonProcess.serving("a", nats: nats.url, ["checkpoint.interval=1s"])
            let anna = try ScriptedAuthor("anna-of-lesson", room: "lesson", on: connection)
            for number in 1...50 {
                try await anna.send(
                    #"{"n":\#(number),"t":1000,"w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#,
                    appliedAt: UInt64(number))
            }
            #expect(try count("anna-of-lesson", in: nats) > 0)
            let answer = try TestFiles.url("answer")
            try Data("lessen\n".utf8).write(to: answer)
            let wrong = try LecternProcess(["erase", "lesson", "--nats", nats.url], input: answer.path)
            #expect(await wrong.exitCode() == 1)
            #expect(wrong.log.contains("not erased"), "\(wrong.log)")
            #expect(try count("anna-of-lesson", in: nats) > 0)

            try Data("lesson\n".utf8).write(to: answer)
            let right = try LecternProcess(["erase", "lesson", "--nats", nats.url], input: answer.path)
            #expect(await right.exitCode() == 0, "\(right.log)")
            #expect(right.log.contains("erased lesson: deleted 50 records"), "\(right.log)")
            // The server writes its index of subjects anew when a file of a stream has been idle for a while.
            try await eventually("the author is nowhere", is: try count("anna-of-lesson", in: nats) == 0)
            let again = try await LecternProcess.run("erase", "lesson", "--yes", "--nats", nats.url)
            #expect(again.exitCode == 0 && again.log.contains(/deleted 0 records|nothing was stored/), "\(again.log)")
            let audit = try await LecternProcess.run("audit", "--nats", nats.url)
            #expect(audit.log.contains("erase") && audit.log.contains("lesson"), "\(audit.log)")
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `in a cluster no server's streams keep anything of it`() async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            let url = servers.map(\.url).joined(separator: ",")
            // Daemon and authors are on one server: another one may hear later that feedback is subscribed to than it
            // gets some.
            let (daemon, http) = try await DaemonProcess.servingHTTP(
                "a", nats: servers[0].url, ["checkpoint.interval=1s", "journal.replicas=3"])
            try await NATSConnection.with(servers[0]) { connection in
                for room in ["lesson", "other"] {
                    let author = try ScriptedAuthor("hand-of-\(room)", room: room, on: connection)
                    for number in 1...50 {
                        try await author.send(
                            #"{"n":\#(number),"t":1000,"w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#,
                            appliedAt: UInt64(number))
                    }
                }
            }
            try await eventually(
                "all servers have it", is: servers.allSatisfy { try count("hand-of-lesson", in: $0) > 0 })
            let brought = try await http.send(
                "POST", "/api/rooms/lesson/import?author=berta", bytes: SlideFiles.pdf([(4, 3)]))
            #expect(brought.statusCode == 200, "\(brought.text)")
            let (code, log) = try await LecternProcess.run("erase", "lesson", "--yes", "--nats", url)
            #expect(code == 0 && log.contains("deleted 5") && log.contains(", 1 of 1 files"), "\(log)")
            try await eventually(
                "no server has it", is: servers.allSatisfy { try count("hand-of-lesson", in: $0) == 0 })
            for server in servers { #expect(try count("hand-of-other", in: server) > 0) }
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `erase that cannot delete a file ends with 1 and says what is left, and later finishes`() async throws {
        @Sendable func users(denying subject: String) -> String {
            """
            accounts: {
              A: { jetstream: enabled, users: [
                { user: service, password: service, permissions: { publish: { deny: "\(subject)" } } },
                { user: otto, password: otto } ] }
            }
            """
        }
        let denied = users(denying: "$JS.API.STREAM.MSG.DELETE.INK_ASSETS")
        try await NATSTestServer.with(jetStream: true, configuration: denied) { nats in
            let url = { (user: String) in "nats://\(user):\(user)@127.0.0.1:\(nats.port)" }
            let (daemon, http) = try await DaemonProcess.servingHTTP(
                "a", nats: url("service"), ["checkpoint.interval=1s"])
            let brought = try await http.send(
                "POST", "/api/rooms/lesson/import?author=anna", bytes: SlideFiles.pdf([(4, 3)]))
            #expect(brought.statusCode == 200, "\(brought.text)")
            let first = try await LecternProcess.run("erase", "lesson", "--yes", "--nats", url("otto"))
            #expect(first.exitCode == 1, "\(first.log)")
            #expect(first.log.contains("1 of 1 files") && first.log.contains("Erase it again."), "\(first.log)")
            try await nats.restart(configuration: users(denying: "nothing"))
            let last = try await eventually("the daemon is back and erases") {
                let run = try await LecternProcess.run("erase", "lesson", "--yes", "--nats", url("otto"))
                return run.exitCode == 0 ? run : nil
            }
            #expect(last.log.contains("1 of 1 files"), "\(last.log)")
            let audit = try await LecternProcess.run("audit", "--nats", url("otto"))
            #expect(audit.log.contains("failed") && audit.log.contains("done"), "\(audit.log)")
            #expect(await daemon.terminate() == 0)
        }
    }
}
