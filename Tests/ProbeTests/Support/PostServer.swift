import Locking
import NATSTestServer
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport

/// An HTTP server on this machine that keeps what is posted to it. The gateway itself is in another program, whose tests
/// post to it.
struct PostServer: Sendable {
    /// A request with its body.
    struct Post: Sendable {
        var target = ""
        var headers = HTTPHeaders()
        var body: [UInt8] = []
    }

    let port: Int
    let posts: Recorder<Post>

    /// Runs a body beside a server that gives every request the same answer; one that redirects leads to `/elsewhere`.
    static func with<Result: Sendable>(
        answering status: HTTPResponseStatus, _ text: String = "", _ body: @Sendable (PostServer) async throws -> Result
    ) async throws -> Result {
        try await with(answer: { _ in (status, Array(text.utf8)) }, body)
    }

    /// Runs a body beside a server that answers as it is told.
    static func with<Result: Sendable>(
        answer: @escaping @Sendable (Post) -> (HTTPResponseStatus, [UInt8]),
        _ body: @Sendable (PostServer) async throws -> Result
    ) async throws -> Result {
        let posts = Recorder<Post>()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answer(answer, posts))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = channel.localAddress?.port else { throw Unexpected("no port") }
        do {
            let result = try await body(PostServer(port: port, posts: posts))
            try await channel.close().get()
            return result
        } catch {
            try? await channel.close().get()
            throw error
        }
    }

    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: @Sendable (Post) -> (HTTPResponseStatus, [UInt8])
        private let posts: Recorder<Post>
        private var post = Post()

        init(_ answer: @escaping @Sendable (Post) -> (HTTPResponseStatus, [UInt8]), _ posts: Recorder<Post>) {
            (self.answer, self.posts) = (answer, posts)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): post = Post(target: "\(head.method) \(head.uri)", headers: head.headers)
            case .body(let part): post.body += part.readableBytesView
            case .end:
                posts.append(post)
                let (status, bytes) = answer(post)
                let body = ByteBuffer(bytes: bytes)
                let head = HTTPResponseHead(
                    version: .http1_1, status: status,
                    headers: ["Content-Length": "\(body.readableBytes)", "Location": "/elsewhere"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
