internal import Foundation
internal import Hummingbird
internal import LecternClient
internal import NATSClient
internal import StrokeWire

/// An error that answers an HTTP request.
struct GatewayError: Error, Equatable {
    let status: HTTPResponse.Status
    /// One of the service's codes (`RequestError.Code`), or one of the gateway's own.
    let code: String
    /// One English sentence for a person.
    let message: String
    /// The address of the requested room, when the request was about one; known even when no service answers.
    var address: RoomAddress?
    /// Seconds after which the client may come again.
    var retryAfter: Int?
    /// The faulty part of a message.
    var field: String?
    /// The pages that were made before the rest failed.
    var pages: [Int]?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
        if status == .serviceUnavailable || status == .gatewayTimeout { retryAfter = 1 }
    }

    static func badRequest(_ message: String) -> GatewayError {
        GatewayError(.badRequest, RequestError.Code.badRequest.rawValue, message)
    }

    static func notReady(_ message: String) -> GatewayError {
        GatewayError(.serviceUnavailable, RequestError.Code.notReady.rawValue, message)
    }

    /// A bound on the readers of event streams is reached.
    static func tooManyReaders(_ message: String) -> GatewayError {
        GatewayError(.serviceUnavailable, "too-many-readers", message)
    }

    static func tooLarge(_ message: String) -> GatewayError {
        GatewayError(.contentTooLarge, RejectionCode.tooLarge.rawValue, message)
    }

    static func headTooLarge(limit: Int) -> GatewayError {
        GatewayError(
            .requestHeaderFieldsTooLarge, RejectionCode.tooLarge.rawValue,
            "The head of a request, with its cookies, has at most \(limit) bytes.")
    }

    /// - Parameter retryAfter: seconds.
    static func tooManyRequests(_ message: String, retryAfter: Int) -> GatewayError {
        var error = GatewayError(.tooManyRequests, RejectionCode.rateLimited.rawValue, message)
        error.retryAfter = retryAfter
        return error
    }

    static let unauthorized = GatewayError(
        .unauthorized, "unauthorized", "This needs a token that is valid now, as a bearer or by /api/session.")

    static let muted = GatewayError(
        .forbidden, RejectionCode.muted.rawValue, "A teacher or operator has muted the author.")

    /// Its token was good, and is so no longer.
    static let revoked = GatewayError(
        .unauthorized, "revoked", "The token has been revoked. Ask for a new one where you got it.")

    static func forbidden(_ message: String) -> GatewayError {
        GatewayError(.forbidden, "forbidden", message)
    }

    /// The service's answer cannot be used.
    static func badGateway(_ message: String) -> GatewayError {
        GatewayError(.badGateway, "bad-gateway", message)
    }

    static let notFound = GatewayError(.notFound, "not-found", "Nothing is here; / has links to all there is.")
    static let notFoundBesideHealth = GatewayError(
        .notFound, "not-found", "Nothing is here; there are /healthz, /readyz and /metrics.")

    static func methodNotAllowed(_ methods: String) -> GatewayError {
        GatewayError(.methodNotAllowed, "method-not-allowed", "Allowed here: \(methods).")
    }
    static let internalError = GatewayError(.internalServerError, "internal", "The gateway failed; see its log.")

    /// The same error, with the address of the requested room.
    func about(_ address: RoomAddress) -> GatewayError {
        var error = self
        error.address = address
        return error
    }
}

extension GatewayError {
    /// The error of a request that a route ends with.
    /// - Returns: nil where the gateway itself has failed.
    init?(thrown error: any Error) {
        switch error {
        case let error as GatewayError: self = error
        case let error as Rejection: self.init(error)
        case let error as RequestError: self.init(error)
        case let error as NATSError: self.init(error)
        case let error as RoomDirectoryError: self.init(error)
        case let error as PageError: self.init(error)
        case let error as AssetUploadError: self.init(error)
        default: return nil
        }
    }

    /// The service refused the request.
    init(_ error: RequestError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .unknownRoom, .unknownCohort, .unknownIndex, .unknownAsset: .notFound
            case .badRequest: .badRequest
            case .tooLarge, .unreadable: .unprocessableContent
            case .noSandbox, .noJournal: .notImplemented
            case .notReady: .serviceUnavailable
            case .listFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
            case .gone: .gone
            }
        self.init(status, error.code.rawValue, error.message)
    }

    /// A request about a room failed.
    init(_ error: RoomDirectoryError) {
        switch error {
        case .nats(let error): self.init(error)
        case .noReply: self = .notReady("No service answers for this room.")
        case .refused(let why): self = .notReady("The service refused: \(why)")
        case .tooManyMuted: self.init(.conflict, "too-many-muted", "There is no place for more: \(error).")
        case .malformed: self = .badGateway("The service's answer cannot be read.")
        }
    }

    /// A body that cannot be used.
    init(_ rejection: Rejection) {
        self.init(
            rejection.code == .tooLarge ? .contentTooLarge : .badRequest, rejection.code.rawValue, rejection.message)
        field = rejection.field
    }

    /// There was no usable answer.
    init(_ error: NATSError) {
        switch error {
        case .timeout:
            self.init(.gatewayTimeout, "timeout", "The service did not answer in time.")
        case .noResponders:
            self = .notReady("No service answers for this room.")
        case .payloadTooLarge(_, let limit):
            self = .tooLarge("A message is larger than the NATS server takes, \(limit) bytes with its headers.")
        case .malformedReply, .replyTooLarge:
            self = .badGateway("The service's answer cannot be used: \(error).")
        default:
            self = .notReady("The service cannot be reached: \(error).")
        }
    }
}

/// `{"error":{"code":…,"message":…}}`; a request about a room has its name and address too.
struct ErrorBody: Encodable {
    struct Reason: Encodable {
        let code: String
        let field: String?
        let message: String
    }

    let error: Reason
    let room: String?
    let address: String?
    let pages: [Int]?

    init(_ error: GatewayError) {
        self.error = Reason(code: error.code, field: error.field, message: error.message)
        room = error.address?.room.text
        address = error.address?.description
        pages = error.pages
    }

    /// As JSON with sorted keys.
    func encoded() -> [UInt8] {
        // Strings always encode.
        (try? JSONEncoder.sorted.encode(self)).map(Array.init) ?? []
    }
}
