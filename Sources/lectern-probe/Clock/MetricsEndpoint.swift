import ArgumentParser
import Locking
import NIOCore
import NIOHTTP1
import NIOPosix

/// Where metrics are served.
struct MetricsAddress {
    /// Connections that may be open.
    private static let connectionLimit = 64

    let host: String
    let port: Int

    /// Reads `address:port`, or a port of 127.0.0.1.
    init(_ text: String) throws {
        let separator = text.lastIndex(of: ":")
        let host = separator.map { String(text[..<$0]) } ?? "127.0.0.1"
        guard let port = Int(separator.map { text[text.index(after: $0)...] } ?? text[...]),
            (0...65_535).contains(port),
            !host.isEmpty
        else { throw ValidationError("--metrics is an address and a port, as 127.0.0.1:9470") }
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
    }

    /// Answers `GET /metrics`, one request a connection. A connection beyond the limit is closed.
    func serve(_ text: @escaping @Sendable () -> String) async throws -> any Channel {
        let openConnections = Locked(0)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: CInt(Self.connectionLimit))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let isWithinLimit = openConnections.withLock { count in
                    count += 1
                    return count <= Self.connectionLimit
                }
                channel.closeFuture.whenComplete { _ in openConnections.withLock { $0 -= 1 } }
                guard isWithinLimit else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(MetricsHandler(text))
                    channel.eventLoop.assumeIsolated().scheduleTask(in: .seconds(10)) {
                        channel.close(promise: nil)
                    }
                }
            }
        do {
            let channel = try await bootstrap.bind(host: host, port: port).get()
            StandardError.write(
                "lectern-probe: metrics at http://\(host):\(channel.localAddress?.port ?? port)/metrics")
            return channel
        } catch {
            StandardError.write("lectern-probe: cannot listen on \(host):\(port): \(error)")
            throw ExitCode.failed
        }
    }
}

private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let text: @Sendable () -> String
    private var isFound = false

    init(_ text: @escaping @Sendable () -> String) {
        self.text = text
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isFound = head.method == .GET && head.uri.prefix { $0 != "?" } == "/metrics"
        case .body: break
        case .end: answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        let body = ByteBuffer(string: isFound ? text() : "GET /metrics\n")
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Content-Length": "\(body.readableBytes)",
            "Connection": "close",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: isFound ? .ok : .notFound, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
