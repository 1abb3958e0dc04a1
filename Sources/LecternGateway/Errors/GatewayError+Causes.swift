internal import Hummingbird
internal import NATSClient
internal import StrokeWire

extension GatewayError {
    /// What the service said no with.
    init(_ error: RequestError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .unknownRoom, .unknownCohort: .notFound
            case .badRequest: .badRequest
            case .notReady: .serviceUnavailable
            }
        self.init(status, error.code.rawValue, error.message)
    }

    /// Why there was no answer.
    init(_ error: NATSError) {
        switch error {
        case .timeout:
            self.init(.gatewayTimeout, "timeout", "The service did not answer in time.")
        case .noResponders:
            self = .notReady("No service answers for this room.")
        case .malformedReply, .replyTooLarge:
            self = .badGateway("The service's answer cannot be used: \(error).")
        default:
            self = .notReady("The service cannot be asked: \(error).")
        }
    }
}
