internal import NIOCore

/// The handlers that close a connection on which nothing has been read and nothing could be written for a while:
/// idle clients, those that send a request byte by byte, and those that do not read their response.
func stallHandlers(_ patience: Duration) -> [any RemovableChannelHandler] {
    [IdleStateHandler(allTimeout: TimeAmount(patience)), CloseWhenStalled()]
}

/// Closes its channel when the handler before it says that nothing moves.
final class CloseWhenStalled: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
