// The gateway in the test's process, asked over HTTP. Behind it is a real nats-server and either a service that answers as
// the test says (`RunningGateway`), or the real one (`RunningClass`). `Routes` has a suite for each group of routes, `Client`
// the client over HTTP.

import Dispatch
import Foundation
import Glibc
import Hummingbird
import Logging
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport

@testable import LecternGateway

/// A gateway on a free port, with its own nats-server and a service that answers as a test says.
struct RunningGateway: Sendable {
    let gateway: Gateway
    let port: Int
    let http: HTTPClient
    let registry: PrometheusRegistry
    let server: NATSTestServer
    let service: TestService
    /// The gateway's own connection.
    let connection: NATSConnection

    /// Runs a body, then ends everything, also when the body throws.
    static func with(
        partitions: Int = 1, jetStream: Bool = false, limits: GatewayLimits = .quick,
        obstacle: @escaping @Sendable () -> String? = { nil }, logger: Logger = .silent,
        configured adjust: @escaping @Sendable (inout GatewayConfiguration) -> Void = {
            $0.access = .open(anyHost: true)
        }, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: jetStream) { server, service in
            try await NATSConnection.with(server) { connection in
                let registry = PrometheusRegistry(help: GatewayMetrics.help)
                var configuration = GatewayConfiguration(port: 0, partitions: partitions)
                adjust(&configuration)
                try await run(configuration, limits, obstacle, connection, registry, logger) { gateway, port in
                    try await body(
                        RunningGateway(
                            gateway: gateway, port: port, http: HTTPClient(port: port), registry: registry,
                            server: server, service: TestService(connection: service), connection: connection))
                }
            }
        }
    }

    /// The same for a gateway that takes tokens of a key.
    static func with(
        _ key: TokenKey, limits: GatewayLimits = .quick,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await with(limits: limits, configured: { $0.access = .tokens(key) }, body)
    }

    /// Tells the gateway that no token is revoked, and waits until it has heard it.
    func revokeNothing() async throws {
        try await service.revokeNothing()
        try await waitUntilReady()
    }

    func waitUntilReady() async throws {
        try await eventually("the gateway is ready", is: await http.get("/readyz").status == .ok)
    }

    /// Waits until so many event streams are open.
    func hasReaders(_ count: Int) async throws {
        try await eventually("\(count) read", is: registry.text().contains("lectern_http_readers \(count)\n"))
    }

    /// Follows a room.
    func read(_ query: String = "", of room: String = "r", headers: [String: String] = [:]) throws -> EventStreamClient
    {
        try EventStreamClient(port: port, "/api/rooms/\(room)/events\(query)", headers: headers)
    }

    /// A reader of a path that does not read.
    func stall(_ path: String = "/api/rooms/r/events", receiveBuffer: Int32? = nil) throws -> RawConnection {
        let stalled = try RawConnection(port: port, receiveBuffer: receiveBuffer)
        guard stalled.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n") else { throw Unexpected("not connected") }
        return stalled
    }

    private static func run(
        _ configuration: GatewayConfiguration, _ limits: GatewayLimits,
        _ obstacle: @escaping @Sendable () -> String?, _ connection: NATSConnection,
        _ registry: PrometheusRegistry, _ logger: Logger,
        _ body: @escaping @Sendable (Gateway, Int) async throws -> Void
    ) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var gateway = Gateway(
            configuration, connection: connection, registry: registry, logger: logger, obstacle: obstacle,
            onListening: { port in listening.yield(port) })
        gateway.limits = limits
        let listener = gateway
        let services = ServiceGroup(
            configuration: .init(
                services: [.init(service: listener, successTerminationBehavior: .ignore)], logger: .silent))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            group.addTask {
                // Without a port the gateway could not listen; the other task throws the error.
                guard let port = await ports.first(where: { _ in true }) else { return }
                do {
                    try await body(listener, port)
                } catch {
                    await services.triggerGracefulShutdown()
                    throw error
                }
                await services.triggerGracefulShutdown()
            }
            try await group.waitForAll()
        }
    }
}

extension GatewayLimits {
    /// With short times where a test has to wait for all of them.
    static var quick: GatewayLimits { quick { _ in } }

    static func quick(_ adjust: (inout GatewayLimits) -> Void) -> GatewayLimits {
        var limits = GatewayLimits()
        limits.listingWindow = .milliseconds(300)
        limits.partitionsInterval = .milliseconds(50)
        adjust(&limits)
        return limits
    }
}

/// Takes the place of the daemons in a test: answers requests as the test says. Ends with its connection.
struct TestService: Sendable {
    let connection: NATSConnection

    /// Answers each request on a subject, which may have wildcards, with messages; no message leaves it waiting. Returns when the
    /// server has the subscription.
    func answer(_ subject: String, with replies: @escaping @Sendable (Question) -> [Answer]) async throws {
        let connection = connection
        _ = try connection.subscribe(subject) { message in
            guard let inbox = message.reply else { return }
            let question = Question(subject: message.subject, payload: message.copyPayload())
            for answer in replies(question) {
                try? connection.publish(answer.payload, to: inbox, headers: answer.headers)
            }
        }
        try await connection.flush()
    }

    /// Tells gateways that no token is revoked; returns when one that asks again has heard it.
    func revokeNothing() async throws {
        try await answer("ink.revocations") { _ in
            [Answer(payload: RevocationPage(list: "l", through: 0, hasMore: false, revocations: []).encoded())]
        }
    }
}

struct Question: Sendable {
    let subject: String
    let payload: [UInt8]

    var text: String { String(decoding: payload, as: UTF8.self) }
}

struct Answer: Sendable {
    var payload: [UInt8]
    var headers: NATSHeaders = [:]

    static func text(_ text: String) -> Answer { Answer(payload: Array(text.utf8)) }
    static func board(_ index: Int = 0, of room: String = "life") -> Answer {
        Answer(payload: joinReply(index, of: room))
    }
    static func error(_ code: RequestError.Code) -> Answer {
        Answer(payload: RequestError(code, "The service says no.").encoded())
    }

    /// A reply cut into a number of messages.
    static func parts(_ payload: [UInt8], _ count: Int) -> [Answer] {
        (0..<count).map { part in
            let range = payload.count * part / count..<payload.count * (part + 1) / count
            return Answer(payload: Array(payload[range]), headers: [HeaderName.part: "\(part + 1)/\(count)"])
        }
    }
}

/// The reply to a join of a room without strokes, with so many spaces in it.
func joinReply(_ index: Int = 0, of room: String = "life", pad: Int = 0) -> [UInt8] {
    let text = """
        {"room":"\(room)","index":\(index),"digest":"0000000000000000","palette":["#000000"],"style":"smooth",\
        "board":{"w":400,"h":300},"visible":[],"redo":[]\(String(repeating: " ", count: pad))}
        """
    return Array(text.utf8)
}

/// A PNG signature with some bytes after it, at least this many in all.
func picture(bytes: Int) -> [UInt8] {
    // Blocks of a prime number of bytes, so that parts cannot be exchanged unnoticed.
    let block = Array(0..<251 as Range<UInt8>)
    var png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    while png.count < bytes { png += block }
    return png
}

/// A TCP connection to this machine that sends any text, complete requests or not.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// - Parameter receiveBuffer: bytes that the system takes for it; nil leaves that to the system.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let descriptor = descriptor
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Glibc.close(descriptor)
            throw Unexpected("cannot connect: \(errno)")
        }
    }

    /// - Parameter descriptor: of a connected socket, which is this object's from now on.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { Glibc.close(descriptor) }

    /// - Returns: whether the connection is still open.
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Waits for bytes; nil when the connection is closed or broken. Blocks the thread.
    func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// Reads until the connection is closed or broken.
    func readToEnd() async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var received: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
                    received += buffer.prefix(count)
                }
                continuation.resume(returning: String(decoding: received, as: UTF8.self))
            }
        }
    }

    /// Reads until a text has come.
    /// - Returns: all that has come.
    @discardableResult
    func readUp(to text: String) async throws -> String {
        let received = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var received = ""
                while !received.contains(text), let bytes = readSome() {
                    received += String(decoding: bytes, as: UTF8.self)
                }
                continuation.resume(returning: received)
            }
        }
        guard received.contains(text) else { throw Unexpected("the connection has ended before \(text)") }
        return received
    }

    /// Has the connection broken (RST) with the end of this object, not closed.
    func breaksAtEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the side of this connection that sends.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Shuts the connection down; this object still owns the descriptor.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

extension HTTPClient {
    func get(_ path: String, headers: HTTPFields) async throws -> Response {
        try await send("GET", path, headers: headers.map { ($0.name.rawName, $0.value) })
    }

    func head(_ path: String) async throws -> Response { try await send("HEAD", path) }

    func post(_ path: String, body: String) async throws -> Response { try await send("POST", path, body: body) }
}

/// A response in the types of the gateway.
extension HTTPClient.Response {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: statusCode) }

    var headers: HTTPFields {
        var headers: HTTPFields = [:]
        for (name, value) in fields { if let name = HTTPFields.Element.Name(name) { headers[name] = value } }
        return headers
    }

    /// The body as JSON, in a form that can be compared.
    var json: NSDictionary {
        get throws { try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:] }
    }

    /// The code of `{"error":{"code":…}}`.
    var errorCode: String? {
        get throws { try (json["error"] as? NSDictionary)?["code"] as? String }
    }
}
