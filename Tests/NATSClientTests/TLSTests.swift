import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite struct TLSTests {
    /// Runs a body with a server that requires TLS.
    private func with(
        verify: Bool = false, serverNames: String = "IP:127.0.0.1,DNS:localhost",
        _ body: @Sendable (NATSTestServer, TestCertificates) async throws -> Void
    ) async throws {
        let certificates = try TestCertificates(serverNames: serverNames)
        defer { certificates.remove() }
        try await NATSTestServer.with(configuration: certificates.serverConfiguration(verify: verify)) { server in
            try await body(server, certificates)
        }
    }

    /// The error of connecting with these settings; nil when it succeeds.
    private func failure(_ settings: NATSSettings) async -> NATSError? {
        var settings = settings
        settings.reconnectWait = .milliseconds(5) ... .milliseconds(20)
        let nats = NATSConnection(settings, logger: .silent)
        do throws(NATSError) {
            try await nats.connect(within: .seconds(2))
            _ = try await nats.confirmPublished(timeout: .seconds(30))
            await nats.close()
            return nil
        } catch {
            await nats.close()
            return error
        }
    }

    private func settings(
        _ server: NATSTestServer, _ certificates: TestCertificates, host: String = "127.0.0.1"
    ) -> NATSSettings {
        var settings = NATSSettings(url: "tls://\(host):\(server.port)", name: "test")
        settings.tls.authorityFile = certificates.authority
        return settings
    }

    @Test func `A server is believed when its certificate is valid for the host and comes from a known authority`()
        async throws
    {
        try await with { server, certificates in
            #expect(await failure(settings(server, certificates)) == nil)
            #expect(await failure(settings(server, certificates, host: "localhost")) == nil)
            // An authority file requires TLS too.
            var plain = settings(server, certificates)
            plain.url = server.url
            #expect(await failure(plain) == nil)
            var unknown = settings(server, certificates)
            unknown.tls.authorityFile = nil
            #expect(await failure(unknown) != nil)
            let other = try TestCertificates()
            defer { other.remove() }
            #expect(await failure(settings(server, other)) != nil)
        }
        try await with(serverNames: "DNS:nats.example,DNS:localhost") { server, certificates in
            #expect(await failure(settings(server, certificates)) != nil)
            #expect(await failure(settings(server, certificates, host: "localhost")) == nil)
        }
    }

    @Test func `A server that wants a client's certificate gets it`() async throws {
        try await with(verify: true) { server, certificates in
            #expect(await failure(settings(server, certificates)) != nil)
            var known = settings(server, certificates)
            (known.tls.certificateFile, known.tls.keyFile) = certificates.client
            #expect(await failure(known) == nil)
            known.tls.keyFile = nil
            #expect(
                await failure(known)
                    == .invalidSettings("a client certificate for NATS needs its key, and the key its certificate"))
            known.tls.keyFile = "/no/such.key"
            #expect(await failure(known) == .unreadableFile(path: "/no/such.key", why: "No such file or directory"))
        }
    }

    @Test func `A server in plain text is refused where TLS was asked for`() async throws {
        // The server accepts this user.
        let configuration = "accounts: { A: { users: [ { user: ada, password: ada } ] } }"
        try await NATSTestServer.with(configuration: configuration) { server in
            #expect(await failure(NATSSettings(server, user: "ada")) == nil)
            for url in ["tls://ada:ada@127.0.0.1:\(server.port)", "tls://ada:ada@localhost:\(server.port)"] {
                #expect(await failure(NATSSettings(url: url)) != nil)
            }
            let mixed = "tls://ada:ada@127.0.0.1:\(server.port),nats://ada:ada@127.0.0.1:\(server.port)"
            guard case .invalidSettings = await failure(NATSSettings(url: mixed)) else {
                throw Unexpected("a list of both kinds is taken")
            }
        }
    }

    /// Without `SocketLoop`, libnats uses one SSL object on two threads, which crashes within seconds.
    /// `LECTERN_TLS_SECONDS` lengthens the test.
    @Test func `Traffic in both directions from many threads arrives whole and in order over TLS`() async throws {
        let seconds = EnvironmentVariable("LECTERN_TLS_SECONDS").number ?? 2
        let publishers = 5
        try await with { server, certificates in
            try await NATSConnection.with(server, { $0 = settings(server, certificates) }) { nats in
                let states = nats.recordStates()
                let received = Locked(Array(repeating: 0, count: publishers))
                let disordered = Recorder<Int>()
                try nats.subscribe("flood.*") { message in
                    let (publisher, number) = message.withUnsafeBytes {
                        ($0.loadUnaligned(as: Int.self), $0.loadUnaligned(fromByteOffset: 8, as: Int.self))
                    }
                    let isNext = received.withLock { received in
                        defer { received[publisher] = number }
                        return received[publisher] == number - 1
                    }
                    if !isNext { disordered.append(number) }
                }
                try nats.answer("ask") { $0 }
                try await nats.confirmPublished(timeout: .seconds(30))
                let start = ContinuousClock.now
                let sent = try await withThrowingTaskGroup(of: Int.self) { group in
                    for publisher in 0..<publishers {
                        group.addTask {
                            // 1,000 messages a second each, in steps of 10 ms; bodies of 16 to 8,000 bytes.
                            var number = 0
                            while start.duration(to: .now) < .seconds(seconds) {
                                for _ in 0..<10 {
                                    number += 1
                                    var body = [UInt8](repeating: 7, count: 16 + (number &* 7919) % 8000)
                                    body.withUnsafeMutableBytes {
                                        $0.storeBytes(of: publisher, as: Int.self)
                                        $0.storeBytes(of: number, toByteOffset: 8, as: Int.self)
                                    }
                                    try nats.publish(body, to: "flood.\(publisher)")
                                }
                                _ = try await nats.request([1, 2, 3], to: "ask", timeout: .seconds(30))
                                try await Task.sleep(until: start + .milliseconds(number), clock: .continuous)
                            }
                            return number
                        }
                    }
                    return try await group.reduce(0, +)
                }
                try await nats.confirmPublished(timeout: .seconds(30))
                _ = try await nats.request([], to: "ask", timeout: .seconds(30))
                #expect(disordered.values.isEmpty)
                #expect(received.withLock { $0.reduce(0, +) } == sent)
                #expect(states.values.isEmpty)
                print("TLS: \(sent) messages published and received in \(start.duration(to: .now))")
            }
        }
    }

    @Test func `Over TLS a server that takes nothing any more is left, and found again`() async throws {
        try await with { server, certificates in
            let configure: @Sendable (inout NATSSettings) -> Void = { settings in
                settings = self.settings(server, certificates)
                settings.writeDeadline = .milliseconds(200)
                settings.maxBufferedBytes = 8 << 20
                settings.reconnectWait = .milliseconds(5) ... .milliseconds(20)
            }
            try await NATSConnection.with(server, configure) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                try await nats.confirmPublished(timeout: .seconds(30))
                await server.pause()
                let megabyte = [UInt8](repeating: 1, count: 1 << 20)
                #expect(throws: NATSError.self) { for _ in 0..<1000 { try nats.publish(megabyte, to: "heavy") } }
                _ = try await states.values(1)
                await server.resume()
                _ = try await states.values(2)
                try nats.publish([1], to: "echo")
                #expect(try await seen.values(1) == [[1]])
            }
        }
    }
}
