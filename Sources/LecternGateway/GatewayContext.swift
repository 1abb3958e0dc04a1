internal import Hummingbird
internal import NIOCore

/// What routes know of a request beside the request itself.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// What the request's token allows; nil where everybody may do everything.
    var claims: TokenClaims?
    /// What each of the request's tokens allows that meet its need, ``claims`` first.
    var allClaims: [TokenClaims] = []

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// What the first of the request's tokens allows that meets a second need as well; nil where everybody may do everything.
    /// - Parameter refusal: why it is refused where none does.
    func claims(
        alsoFor need: AccessNeed, _ refusal: @autoclosure () -> String
    ) throws(GatewayError) -> TokenClaims? {
        guard claims != nil else { return nil }
        guard let both = allClaims.first(where: { (try? need.check($0)) != nil }) else { throw .forbidden(refusal()) }
        return both
    }
}
