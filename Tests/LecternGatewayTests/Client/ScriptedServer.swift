import Foundation
import Glibc
import Locking
import TestSupport

/// A TCP server on a free port that does with each connection what a test says, on a thread of its own. Ends with this object.
final class ScriptedServer: Sendable {
    let port: Int
    private let listener: Int32

    /// - Parameter script: called with each connection, which ends when it returns and nobody else holds it.
    init(_ script: @escaping @Sendable (RawConnection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) + listen(listener, 64) + getsockname(listener, $0, &length)
            }
        }
        guard status == 0 else { throw Unexpected("cannot listen: \(errno)") }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
        Thread.detachNewThread {
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                let connection = RawConnection(descriptor: descriptor)
                Thread.detachNewThread { script(connection) }
            }
            Glibc.close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// A server that answers each request with a text, and then waits for the client to go.
    static func answering(_ answer: @escaping @Sendable (_ request: String) -> String) throws -> ScriptedServer {
        try ScriptedServer { connection in
            var request = ""
            while !request.isWholeRequest {
                guard let bytes = connection.readSome() else { return }
                request += String(decoding: bytes, as: UTF8.self)
            }
            guard connection.send(answer(request)) else { return }
            while connection.readSome() != nil {}
        }
    }
}

extension String {
    /// Whether it has a head, and a body of the length that the head tells.
    fileprivate var isWholeRequest: Bool {
        guard let end = firstRange(of: "\r\n\r\n") else { return false }
        let length = firstMatch(of: /(?i)content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        return self[end.upperBound...].utf8.count >= length
    }
}

/// A proxy before a server of this machine that can hold back what the server sends, cut connections, and let nobody in.
final class HoldingProxy: Sendable {
    private final class Gate: Sendable {
        private let condition = NSCondition()
        private let isHolding = Locked(false)

        func set(_ holds: Bool) {
            isHolding.withLock { $0 = holds }
            condition.lock()
            condition.broadcast()
            condition.unlock()
        }

        func pass() {
            condition.lock()
            while isHolding.withLock({ $0 }) { condition.wait() }
            condition.unlock()
        }
    }

    private let server: ScriptedServer
    private let gate: Gate
    private let connections: Locked<[RawConnection]>
    private let isClosed: Locked<Bool>

    init(to port: Int) throws {
        let (gate, connections, isClosed) = (Gate(), Locked<[RawConnection]>([]), Locked(false))
        (self.gate, self.connections, self.isClosed) = (gate, connections, isClosed)
        server = try ScriptedServer { client in
            guard !isClosed.withLock({ $0 }), let target = try? RawConnection(port: port) else { return }
            connections.withLock { $0 += [client, target] }
            Thread.detachNewThread {
                while let bytes = client.readSome(), target.send(bytes) {}
                target.close()
            }
            while let bytes = target.readSome() {
                gate.pass()
                guard client.send(bytes) else { break }
            }
            client.close()
            target.close()
        }
    }

    deinit {
        gate.set(false)
        cut()
    }

    var port: Int { server.port }
    /// Connections that have been made.
    var count: Int { connections.withLock { $0.count / 2 } }

    /// Whether what the server sends stays here.
    func hold(_ holds: Bool) { gate.set(holds) }

    /// Ends all connections, and whether new ones are ended at once.
    func close(_ closes: Bool) {
        isClosed.withLock { $0 = closes }
        cut()
    }

    /// Ends all connections.
    func cut() {
        for connection in connections.withLock({ $0 }) { connection.close() }
    }
}
