import Foundation
import Glibc
import NATSTestServer
import TestSupport
import Testing

/// What the daemon tells systemd; see sd_notify(3).
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct NotificationTests {
    /// A datagram socket as systemd has it.
    private final class Listener: Sendable {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("n-\(UUID().uuidString.prefix(8))")
            .path
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard bound == 0 else { throw Unexpected("no socket at \(path)") }
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        /// The messages that have come since the last call.
        func take() -> [String] {
            var messages: [String] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return messages }
                messages.append(String(decoding: buffer[..<count], as: UTF8.self))
            }
        }
    }

    /// Collects messages until one of them is there.
    private func wait(for text: String, on listener: Listener, _ heard: inout [String]) async throws {
        heard = try await eventually("systemd is told \(text)") { [heard] in
            let all = heard + listener.take()
            return all.contains { $0.hasPrefix(text) } ? all : nil
        }
    }

    @Test func `systemd is told of waiting, of serving, of life and of the end, in this order`() async throws {
        let listener = try Listener()
        try await NATSTestServer.with(jetStream: true) { nats in
            await nats.stop()
            let daemon = try LecternProcess(
                ["serve", "--nats", nats.url, "--http", "off"],
                environment: ["NOTIFY_SOCKET": listener.path, "WATCHDOG_USEC": "2000000"])
            var heard: [String] = []
            try await wait(for: "STATUS=The service", on: listener, &heard)
            #expect(heard.contains { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") })
            #expect(!heard.contains("READY=1"))
            try await daemon.waitForLog("cannot connect to NATS")
            try await nats.restart()
            try await wait(for: "READY=1", on: listener, &heard)
            try await wait(for: "STATUS=Serving", on: listener, &heard)
            _ = listener.take()
            heard = []
            try await wait(for: "WATCHDOG=1", on: listener, &heard)
            #expect(!heard.contains("READY=1"))
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
            try await wait(for: "STOPPING=1", on: listener, &heard)
        }
    }

    @Test func `a watchdog that is another process's is not fed`() async throws {
        let listener = try Listener()
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try LecternProcess(
                ["serve", "--nats", nats.url, "--http", "off"],
                environment: ["NOTIFY_SOCKET": listener.path, "WATCHDOG_USEC": "400000", "WATCHDOG_PID": "1"])
            var heard: [String] = []
            try await wait(for: "READY=1", on: listener, &heard)
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
            try await wait(for: "STOPPING=1", on: listener, &heard)
            #expect(!heard.contains("WATCHDOG=1"))
        }
    }
}
