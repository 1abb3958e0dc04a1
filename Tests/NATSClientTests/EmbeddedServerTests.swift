import Foundation
import NATSClient
import NATSTestServer
import Testing

@Suite struct EmbeddedServerTests {
    @Test func `a server syncs before it acknowledges where its version can, and says whether`() async throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("synced-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: store) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = store.path
        settings.syncsAlways = true
        let asked = Process()
        let answer = Pipe()
        asked.executableURL = URL(fileURLWithPath: "/bin/sh")
        asked.arguments = ["-c", "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin nats-server --version"]
        asked.standardOutput = answer
        try asked.run()
        asked.waitUntilExit()
        let version = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let server = try await EmbeddedServer.start(settings)
        #expect(server.syncsAlways == !version.contains(" v2.9."), "\(version)")
        await server.stop()
        #expect(FileManager.default.fileExists(atPath: store.path))
    }

    @Test func `A server is there once it has started, and gone once it has stopped`() async throws {
        let server = try await EmbeddedServer.start()
        let process = server.processIdentifier
        let nats = NATSConnection(NATSSettings(url: server.url), logger: .silent)
        try await nats.connect(within: .seconds(30))
        try await nats.flush(timeout: .seconds(30))
        await nats.close()
        await server.stop()
        #expect(kill(process, 0) == -1)
        #expect(errno == ESRCH)
    }

    @Test func `A store outlives its server`() async throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: store) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = store.path
        for (subject, body, answer) in [
            ("CREATE.A", #"{"name":"A","subjects":["a"]}"#, "\"created\""), ("INFO.A", "", "\"created\""),
        ] {
            let server = try await EmbeddedServer.start(settings)
            let nats = NATSConnection(NATSSettings(url: server.url), logger: .silent)
            try await nats.connect(within: .seconds(30))
            let reply = try await nats.request(Array(body.utf8), to: "$JS.API.STREAM.\(subject)", timeout: .seconds(30))
            #expect(String(decoding: reply.payload, as: UTF8.self).contains(answer))
            await nats.close()
            await server.stop()
        }
    }

    @Test func `A store has one server at a time, until its process has ended`() async throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: store) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = store.path
        let first = try await EmbeddedServer.start(settings)
        await #expect {
            _ = try await EmbeddedServer.start(settings)
        } throws: { error in
            guard case EmbeddedServerError.storeInUse(store.path) = error else { return false }
            return true
        }
        kill(first.processIdentifier, SIGKILL)
        let next = try await EmbeddedServer.start(settings)
        await first.stop()
        await next.stop()
    }

    @Test func `A configuration that is wrong is reported with the server's words`() async throws {
        var settings = EmbeddedServer.Settings()
        settings.configuration = "max_payload: many"
        await #expect {
            _ = try await EmbeddedServer.start(settings)
        } throws: { error in
            guard case EmbeddedServerError.exited(let why) = error else { return false }
            return why.contains("server.conf:1:") && !why.contains("nats-server")
        }
    }

    @Test func `A port that is taken is told by its number`() async throws {
        let server = try await EmbeddedServer.start()
        var settings = EmbeddedServer.Settings()
        settings.port = server.port
        await #expect {
            _ = try await EmbeddedServer.start(settings)
        } throws: { error in
            guard case EmbeddedServerError.portTaken(server.port) = error else { return false }
            return true
        }
        await server.stop()
    }

    @Test func `A program that does not exist is reported`() async throws {
        var settings = EmbeddedServer.Settings()
        settings.program = "no-such-nats-server"
        await #expect {
            _ = try await EmbeddedServer.start(settings)
        } throws: { error in
            guard case EmbeddedServerError.programMissing("no-such-nats-server") = error else { return false }
            return true
        }
    }

    @Test func `A store that cannot be made is reported in one line, without the server's log`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = file.path
        await #expect {
            _ = try await EmbeddedServer.start(settings)
        } throws: { error in
            guard case EmbeddedServerError.exited(let why) = error else { return false }
            return why == "Can't start JetStream: storage directory is not a directory"
        }
    }

    @Test func `A server that takes SIGTERM badly is ended all the same`() async throws {
        let server = try await EmbeddedServer.start()
        kill(server.processIdentifier, SIGSTOP)
        await server.stop(timeout: .milliseconds(50))
        #expect(kill(server.processIdentifier, 0) == -1)
    }
}
