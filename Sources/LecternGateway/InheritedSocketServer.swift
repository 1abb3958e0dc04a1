internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Serves HTTP on a socket that another process has bound, and on which it listens: systemd's, which keeps it open.
///
/// Hummingbird's server, which this one is like in all else, only serves sockets that it has bound itself.
struct InheritedSocketServer {
    let socket: CInt
    let channel: HTTP1Channel.Configuration
    let responder: TaskResponder
    let onServerRunning: @Sendable (any Channel) async -> Void
    let logger: Logger

    /// Serves until the task shuts down gracefully, then finishes open requests; closes the socket.
    func run() async throws {
        let http = HTTP1Channel(responder: respond, configuration: channel)
        let loops = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: loops)
        // As many as `ConnectionTable` lets be open.
        let (connections, accepted) = AsyncStream.makeStream(of: HTTP1Channel.Value.self)
        let listener = try await ServerBootstrap(group: loops)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [logger] channel in
                http.setup(channel: channel, logger: logger).map { connection in
                    guard case .terminated = accepted.yield(connection) else { return }
                    // Accepted while the server ended. NIO wants every connection to be handled.
                    channel.close(promise: nil)
                    Task { await http.handle(value: connection, logger: logger) }
                }
            }
            .withBoundSocket(socket).get()
        listener.closeFuture.whenComplete { _ in accepted.finish() }
        await onServerRunning(listener)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await connection in connections {
                    group.addTask { [logger] in await http.handle(value: connection, logger: logger) }
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
        // Still open when the task was cancelled.
        try? await listener.close()
    }

    @concurrent @Sendable private func respond(
        to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let context = GatewayContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response: Response
        do {
            response = try await responder.respond(to: request, context: context)
        } catch let error as HTTPParserError {
            throw error
        } catch {
            response = Response(status: .internalServerError)
        }
        response.headers[.date] = Self.date(time(nil))
        try await writer.write(response: response.head, body: response.body)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    static func date(_ seconds: time_t) -> String {
        var seconds = seconds
        var fields = tm()
        gmtime_r(&seconds, &fields)
        // The program keeps the C locale, whose names of days and months are English.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            let count = strftime(text.baseAddress!, text.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
            return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
