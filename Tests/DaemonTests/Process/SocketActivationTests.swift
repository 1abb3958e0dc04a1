import Foundation
import Glibc
import NATSTestServer
import TestSupport
import Testing

/// A daemon on sockets that another process has bound and keeps; see sd_listen_fds(3).
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SocketActivationTests {
    /// A TCP socket on a free port of a loopback address, as systemd has it.
    private final class Socket: Sendable {
        let descriptor: Int32
        let port: Int

        init(on host: String = "127.0.0.1", listening: Bool = true) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, host, &address.sin_addr)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
                }
            }
            guard bound, !listening || listen(descriptor, 128) == 0 else { throw Unexpected("no socket on \(host)") }
            port = Int(UInt16(bigEndian: address.sin_port))
        }

        deinit { close(descriptor) }
    }

    /// Starts the daemon with sockets from descriptor 3 on.
    private func serve(
        _ arguments: [String], on sockets: [(name: String, socket: Socket)], process: String = "$$"
    ) throws -> LecternProcess {
        let passed = sockets.enumerated().map { " \(3 + $0.offset)<&\($0.element.socket.descriptor)" }.joined()
        let names = sockets.map(\.name).joined(separator: ":")
        let script = """
            exec\(passed); export LISTEN_PID=\(process) LISTEN_FDS=\(sockets.count) LISTEN_FDNAMES='\(names)'; exec "$0" "$@"
            """
        return try LecternProcess(
            ["-c", script, try LecternProcess.path(of: "lectern"), "serve"] + arguments, at: "/bin/bash")
    }

    @Test func `passed sockets take the place of both addresses`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let (http, admin) = (try Socket(), try Socket())
            let daemon = try serve(["--nats", nats.url, "--http", "off"], on: [("admin", admin), ("http", http)])
            #expect(try await daemon.httpPort() > 0)
            try await daemon.waitForLog(" serving")
            let page = try await HTTPClient(port: http.port).get("/monitor")
            #expect(page.statusCode == 200)
            #expect(page.fields["date"]?.hasSuffix(" GMT") == true)
            #expect(try await HTTPClient(port: admin.port).get("/metrics").statusCode == 200)
            #expect(try await HTTPClient(port: admin.port).get("/monitor").statusCode == 404)
            #expect(daemon.log.contains("host=127.0.0.1 port=\(http.port)"))
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
        }
    }

    @Test func `a daemon ends its readers of events, and a request between it and the next waits for that one`()
        async throws
    {
        try await NATSTestServer.with(jetStream: true) { nats in
            let socket = try Socket()
            let first = try serve(["--nats", nats.url], on: [("http", socket)])
            try await first.waitForLog(" serving")
            let http = HTTPClient(port: socket.port)
            let reader = try LecternProcess(
                ["-sSN", "http://127.0.0.1:\(socket.port)/api/rooms/lesson/events?cohort=main"], at: "/usr/bin/curl")
            try await reader.waitForLog("event: ")
            first.send(SIGTERM)
            #expect(await first.exitCode() == 0)
            #expect(await reader.exitCode() == 0)
            async let between = http.get("/healthz")
            let second = try serve(["--nats", nats.url], on: [("http", socket)])
            #expect(try await between.statusCode == 200)
            second.send(SIGTERM)
            #expect(await second.exitCode() == 0)
        }
    }

    @Test func `sockets for another process are not taken`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let socket = try Socket()
            let daemon = try serve(["--nats", nats.url, "--http", "127.0.0.1:0"], on: [("http", socket)], process: "1")
            #expect(try await daemon.httpPort() != socket.port)
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
        }
    }

    @Test func `a socket that cannot be used ends the daemon with the reason`() async throws {
        let cases: [([(String, Socket)], String)] = [
            (
                [("lectern.socket", try Socket())],
                "a socket named lectern.socket is passed; the daemon knows http and admin"
            ),
            ([("http", try Socket()), ("http", try Socket())], "two sockets named http"),
            ([("http", try Socket(listening: false))], "no TCP socket that listens"),
            // What holds for an address holds for that of a socket.
            ([("http", try Socket(on: "0.0.0.0"))], "auth.insecure"),
        ]
        for (sockets, reason) in cases {
            let daemon = try serve(["--nats", "nats://127.0.0.1:1"], on: sockets.map { ($0.0, $0.1) })
            #expect(await daemon.exitCode() == 78)
            #expect(daemon.log.contains(reason), "\(daemon.log)")
        }
    }
}
