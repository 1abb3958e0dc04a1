internal import Hummingbird
internal import NIOCore

/// What routes know of a request beside the request itself.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// What the request's token allows; nil where everybody may do everything.
    var claims: TokenClaims?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
