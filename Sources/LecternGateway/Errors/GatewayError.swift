internal import Hummingbird
internal import StrokeWire

/// Why a request over HTTP is answered with an error, as its client sees it.
struct GatewayError: Error, Equatable {
    let status: HTTPResponse.Status
    /// One of the service's codes (subjects.md, "Errors on requests"), or one of the gateway's own.
    let code: String
    /// One English sentence for a person.
    let message: String
    /// The room that was asked for: its address can be told even when nobody answers for it.
    var address: RoomAddress?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func badRequest(_ message: String) -> GatewayError {
        GatewayError(.badRequest, RequestError.Code.badRequest.rawValue, message)
    }

    static func notReady(_ message: String) -> GatewayError {
        GatewayError(.serviceUnavailable, RequestError.Code.notReady.rawValue, message)
    }

    /// The service answered something that is no answer.
    static func badGateway(_ message: String) -> GatewayError {
        GatewayError(.badGateway, "bad-gateway", message)
    }

    static let notFound = GatewayError(.notFound, "not-found", "There is nothing here; see / for what there is.")
    static let methodNotAllowed = GatewayError(
        .methodNotAllowed, "method-not-allowed", "Everything here is read with GET or HEAD.")
    static let internalError = GatewayError(.internalServerError, "internal", "The gateway failed; its log says why.")

    /// The same error about a room.
    func about(_ address: RoomAddress) -> GatewayError {
        var error = self
        error.address = address
        return error
    }
}
