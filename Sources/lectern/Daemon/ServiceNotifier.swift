import Foundation
import LecternServer
import Logging
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells systemd how the daemon is: that it serves, that it is alive, that it stops (sd_notify(3)).
///
/// Sends datagrams to the socket in `NOTIFY_SOCKET`, as the manual page's own example does: the protocol is stable, and a
/// library for it would be one more dependency of the program. Without the variable it does nothing.
///
/// While a daemon waits for its NATS server it asks for more time, and says what it waits for. The watchdog is fed as long as
/// all threads of rooms answer.
struct ServiceNotifier: Service {
    private let socket: NotificationSocket
    /// Why the daemon is not ready; nil when it is.
    private let obstacle: @Sendable () -> String?
    /// How long the slowest thread of rooms has not answered.
    private let stall: @Sendable () -> Duration
    private let watchdog: Duration?
    private let logger: Logger

    /// - Returns: nil where nobody wants to be told.
    init?(
        _ environment: [String: String], obstacle: @escaping @Sendable () -> String?,
        stall: @escaping @Sendable () -> Duration, logger: Logger
    ) {
        guard let path = environment["NOTIFY_SOCKET"], let socket = NotificationSocket(path) else { return nil }
        self.socket = socket
        self.obstacle = obstacle
        self.stall = stall
        self.logger = logger
        // The variable of a parent is not meant for this process (sd_watchdog_enabled(3)).
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        watchdog = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
            isMeant && $0 > 0 ? .microseconds($0) : nil
        }
    }

    private static let interval = Duration.seconds(1)
    /// How much longer the start may take, each time it is asked for.
    private static let moreTime = Duration.seconds(60)

    func run() async throws {
        try? await cancelWhenGracefulShutdown { try await tell() }
        socket.send("STOPPING=1\nSTATUS=Stopping: handing over to other daemons, or saving.")
    }

    private func tell() async throws {
        var isReady = false
        var status: String?
        while true {
            let obstacle = obstacle()
            if !isReady {
                isReady = obstacle == nil
                socket.send(
                    isReady ? "READY=1" : "EXTEND_TIMEOUT_USEC=\(Self.moreTime.components.seconds * 1_000_000)")
            }
            let new = obstacle ?? "Serving."
            if new != status { socket.send("STATUS=\(new)") }
            status = new
            if let watchdog {
                if stall() < watchdog / 2 {
                    socket.send("WATCHDOG=1")
                } else {
                    logger.error(
                        "a thread of rooms does not answer; the watchdog will end the daemon",
                        metadata: ["seconds": "\(stall().components.seconds)"])
                }
            }
            try await Task.sleep(for: min(Self.interval, watchdog.map { $0 / 4 } ?? Self.interval))
        }
    }
}

/// The datagram socket that systemd listens on.
private final class NotificationSocket: Sendable {
    private let descriptor: Int32
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter path: of a file, or after `@` the name of an abstract socket; anything else gives nil.
    init?(_ path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count > 1, bytes.count < capacity, bytes[0] == UInt8(ascii: "/") || bytes[0] == UInt8(ascii: "@")
        else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        if bytes[0] == UInt8(ascii: "@") { withUnsafeMutableBytes(of: &address.sun_path) { $0[0] = 0 } }
        #if canImport(Glibc)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return nil }
        self.address = address
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

    deinit { close(descriptor) }

    /// Sends what systemd may miss: it says nothing of a datagram that cannot be taken.
    func send(_ text: String) {
        var address = address
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
