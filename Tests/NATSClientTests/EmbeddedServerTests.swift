import Foundation
import NATSClient
import NATSTestServer
import Testing

@Suite struct EmbeddedServerTests {
    /// Runs a body with settings of a server whose store is a place for it, and removes that place.
    private func withStore(_ body: (EmbeddedServer.Settings, URL) async throws -> Void) async throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: store) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = store.path
        try await body(settings, store)
    }

    private func expectFailure(
        _ change: (inout EmbeddedServer.Settings) -> Void, _ isExpected: (EmbeddedServerError) -> Bool
    ) async {
        var settings = EmbeddedServer.Settings()
        change(&settings)
        let error = await #expect(throws: EmbeddedServerError.self) { _ = try await EmbeddedServer.start(settings) }
        #expect(error.map(isExpected) == true, "\(error as Any)")
    }

    @Test func `a server syncs before it acknowledges where its version can, and says whether`() async throws {
        let asked = Process()
        let answer = Pipe()
        asked.executableURL = URL(fileURLWithPath: "/bin/sh")
        asked.arguments = ["-c", "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin nats-server --version"]
        asked.standardOutput = answer
        try asked.run()
        asked.waitUntilExit()
        let version = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        try await withStore { settings, store in
            var settings = settings
            settings.syncsAlways = true
            let server = try await EmbeddedServer.start(settings)
            #expect(server.syncsAlways == !version.contains(" v2.9."), "\(version)")
            await server.stop()
            #expect(FileManager.default.fileExists(atPath: store.path))
        }
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
        try await withStore { settings, _ in
            for (subject, body) in [("CREATE.A", #"{"name":"A","subjects":["a"]}"#), ("INFO.A", "")] {
                let server = try await EmbeddedServer.start(settings)
                let nats = NATSConnection(NATSSettings(url: server.url), logger: .silent)
                try await nats.connect(within: .seconds(30))
                let reply = try await nats.request(
                    Array(body.utf8), to: "$JS.API.STREAM.\(subject)", timeout: .seconds(30))
                #expect(String(decoding: reply.payload, as: UTF8.self).contains("\"created\""))
                await nats.close()
                await server.stop()
            }
        }
    }

    @Test func `A store has one server at a time, until its process has ended`() async throws {
        try await withStore { settings, store in
            let first = try await EmbeddedServer.start(settings)
            await expectFailure {
                $0 = settings
            } _: { error in
                if case .storeInUse(store.path) = error { true } else { false }
            }
            kill(first.processIdentifier, SIGKILL)
            let next = try await EmbeddedServer.start(settings)
            await first.stop()
            await next.stop()
        }
    }

    @Test func `A configuration that is wrong is reported with the server's words`() async {
        await expectFailure {
            $0.configuration = "max_payload: many"
        } _: { error in
            guard case .exited(let why) = error else { return false }
            return why.contains("server.conf:1:") && !why.contains("nats-server")
        }
    }

    @Test func `A port that is taken is told by its number`() async throws {
        let server = try await EmbeddedServer.start()
        await expectFailure {
            $0.port = server.port
        } _: { error in
            if case .portTaken(server.port) = error { true } else { false }
        }
        await server.stop()
    }

    @Test func `A program that does not exist is reported`() async {
        await expectFailure {
            $0.program = "no-such-nats-server"
        } _: { error in
            if case .programMissing("no-such-nats-server") = error { true } else { false }
        }
    }

    @Test func `A store that cannot be made is reported in one line, without the server's log`() async throws {
        try await withStore { settings, store in
            try Data().write(to: store)
            await expectFailure {
                $0 = settings
            } _: { error in
                guard case .exited(let why) = error else { return false }
                return why == "Can't start JetStream: storage directory is not a directory"
            }
        }
    }

    @Test func `A server that takes SIGTERM badly is ended all the same`() async throws {
        let server = try await EmbeddedServer.start()
        kill(server.processIdentifier, SIGSTOP)
        await server.stop(timeout: .milliseconds(50))
        #expect(kill(server.processIdentifier, 0) == -1)
    }
}
