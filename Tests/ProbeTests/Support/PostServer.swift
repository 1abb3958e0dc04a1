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

    /// Runs a body beside a server that gives every request the same answer.
    static func with<Result: Sendable>(
        answering status: HTTPResponseStatus, _ text: String = "",
        _ body: @Sendable (PostServer) async throws -> Result
    ) async throws -> Result {
        let posts = Recorder<Post>()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answer(status, text, posts))
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

        private let status: HTTPResponseStatus
        private let text: String
        private let posts: Recorder<Post>
        private var post = Post()

        init(_ status: HTTPResponseStatus, _ text: String, _ posts: Recorder<Post>) {
            (self.status, self.text, self.posts) = (status, text, posts)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): post = Post(target: "\(head.method) \(head.uri)", headers: head.headers)
            case .body(let part): post.body += part.readableBytesView
            case .end:
                posts.append(post)
                let body = ByteBuffer(string: text)
                let head = HTTPResponseHead(
                    version: .http1_1, status: status, headers: ["Content-Length": "\(body.readableBytes)"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
