internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

/// Adds ``RequestDeadlines`` to a connection's pipeline, right after the HTTP decoder.
final class RequestDeadlinesInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let connections: ConnectionTable

    init(_ connections: ConnectionTable) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestDeadlines(connections), position: .after(decoder))
        } catch {
            // No connection without deadlines.
            context.close(promise: nil)
        }
    }
}

/// Closes a connection whose client takes too long to send the head of a request, or for a whole request, from its head
/// to the last byte of the answer. Sending or reading a byte now and then does not extend either time.
///
/// Answers a request that ``ConnectionTable`` refuses with 503, one that is no HTTP with 400, and one whose head is too long with
/// 431, and closes its connection.
final class RequestDeadlines: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: ConnectionTable
    private var deadline: Scheduled<Void>?
    // Requests of this connection. A client may send the next one before it has the answer to the last (pipelining).
    private var requestsBegun = 0
    private var requestsRead = 0
    private var answersWritten = 0
    /// Whether the request that has begun last is of HTTP/1.1, whose bodies may be sent in chunks.
    private(set) var takesChunks = true
    /// Whether the connection ends with its answer.
    private var isLast = false
    private var isRefused = false
    private var isStreaming = false
    /// Whether the gateway stops: a stream that is opened now would not hear of it.
    private(set) var isQuiescing = false
    /// Follows a feed by the request under way. It ends with the connection, and when the gateway stops.
    var reader: EventReader?

    init(_ connections: ConnectionTable) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connections.opened(channel)
        channel.closeFuture.whenComplete { [connections] _ in connections.closed(channel) }
        close(context.channel, after: connections.limits.headTimeout, because: .head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        reader?.end(.disconnected)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            reader?.end(.shutdown)
        case ChannelEvent.inputClosed: reader?.end(.disconnected)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The answer of the request under way goes on without an end: it has no deadline, and its connection counts as that
    /// of a reader only. The connection ends with the answer.
    func streamBegan(on channel: any Channel) {
        deadline?.cancel()
        isStreaming = true
        connections.closed(channel)
    }

    /// The stream has ended, and so has the watch over its progress: what its client has not taken soon is dropped.
    func streamEnded(on channel: any Channel) {
        close(channel, after: connections.limits.events.endTimeout, because: .slowReader)
    }

    /// The request under way brings a file: it has more time, from now on.
    func uploadBegan(_ context: ChannelHandlerContext) {
        close(context.channel, after: connections.limits.uploadTimeout, because: .request)
    }

    /// Closes the connection of a reader that takes its events too slowly.
    func closeSlowReader(_ channel: any Channel) {
        connections.close(channel, because: .slowReader)
    }

    /// Answers what is no HTTP. Within the body of a request, its route hears of it and answers.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The connection is about to be closed.
        guard !isRefused else { return }
        guard let fault = error as? HTTPParserError, fault != .invalidEOFState, requestsBegun == answersWritten else {
            return context.fireErrorCaught(error)
        }
        isRefused = true
        connections.count(.malformed)
        guard fault == .headerOverflow else {
            return refuse(context, .badRequest("The request is no HTTP: \(fault)."))
        }
        refuse(context, .headTooLarge(limit: connections.limits.headerBytes))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            requestsBegun += 1
            guard begin(context, head) else { return }
        case .body:
            break
        case .end:
            requestsRead += 1
            endIfDone(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where !takesChunks:
            // Else the encoder would send a body without a length in chunks.
            head.version = .http1_0
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenSuccess { self.answerIsWritten(context) }
            context.write(data, promise: written)
        }
    }

    /// - Returns: whether the request is accepted.
    private func begin(_ context: ChannelHandlerContext, _ head: HTTPRequestHead) -> Bool {
        // The time of a pipelined request starts with the answer to the request before it.
        let isFirst = requestsBegun == answersWritten + 1
        if isFirst { close(context.channel, after: connections.limits.requestTimeout, because: .request) }
        if let fault = head.fault {
            isRefused = true
            // What comes after it on this connection cannot be trusted.
            guard isFirst else {
                connections.close(context.channel, because: .malformed)
                return false
            }
            connections.count(.malformed)
            refuse(context, .badRequest(fault))
            return false
        }
        if connections.began(context.channel, isForHealth: HealthRoutes.serve(head.uri)) {
            takesChunks = !head.isOld
            isLast = head.isOld || !head.isKeepAlive
            if isFirst, !head.isOld,
                head.headers[canonicalForm: "Expect"].contains(where: { $0.lowercased() == "100-continue" })
            {
                let proceed = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(proceed)), promise: nil)
            }
            return true
        }
        isRefused = true
        guard isFirst else {
            connections.close(context.channel, because: .busy)
            return false
        }
        connections.count(.busy)
        refuse(context, .notReady("The gateway is busy with other requests."))
        return false
    }

    private func answerIsWritten(_ context: ChannelHandlerContext) {
        guard !isStreaming else { return context.close(promise: nil) }
        answersWritten += 1
        if requestsBegun > answersWritten {
            close(context.channel, after: connections.limits.requestTimeout, because: .request)
        }
        endIfDone(context)
    }

    private func endIfDone(_ context: ChannelHandlerContext) {
        guard requestsRead == requestsBegun, answersWritten == requestsBegun else { return }
        connections.ended(context.channel)
        // The client closes its side then.
        if isLast { context.close(mode: .output, promise: nil) }
        close(context.channel, after: connections.limits.headTimeout, because: .head)
    }

    private func close(
        _ channel: any Channel, after limit: Duration, because reason: ConnectionTable.CloseReason
    ) {
        deadline?.cancel()
        deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { [connections] in
            connections.close(channel, because: reason)
        }
    }

    /// Answers with an error and closes the connection.
    private func refuse(_ context: ChannelHandlerContext, _ error: GatewayError) {
        let body = ByteBuffer(bytes: ErrorBody(error).encoded())
        var headers: HTTPHeaders = [
            "Connection": "close", "Content-Length": "\(body.readableBytes)", "Content-Type": "application/json",
        ]
        if let seconds = error.retryAfter { headers.add(name: "Retry-After", value: "\(seconds)") }
        let status = HTTPResponseStatus(statusCode: error.status.code, reasonPhrase: error.status.reasonPhrase)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}

extension HTTPRequestHead {
    /// Whether it is of a version before HTTP/1.1, without chunks, and here with one request a connection.
    fileprivate var isOld: Bool { version == .http1_0 || version == .http0_9 }

    /// Why nobody can say for sure what the request is for, or where it ends (RFC 9112, 3.2 and 6.1); nil where it is clear.
    fileprivate var fault: String? {
        // The router drops what comes after it, also what the gateway has added by the token.
        if uri.contains("#") { return "The target of a request has no fragment." }
        let hosts = headers["Host"].count
        if hosts > 1 { return "A request has one Host header." }
        if hosts == 0, !isOld { return "A request of HTTP/1.1 has a Host header." }
        let codings = headers[canonicalForm: "Transfer-Encoding"]
        if codings.count > 1 || codings.contains(where: { $0.lowercased() != "chunked" }) {
            return "The only transfer coding here is chunked."
        }
        return nil
    }
}
