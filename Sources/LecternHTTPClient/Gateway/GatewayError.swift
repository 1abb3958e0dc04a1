internal import ClientCore
internal import Foundation
internal import StrokeWire

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Why a gateway did not do what it was asked for.
public struct GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status of the answer; nil where none came.
    public let status: Int?
    /// The gateway's code, as its API documents it, or one of this client: `unreachable`, `timeout`, `cancelled`,
    /// `unexpected-answer`, `answer-too-large`, `bad-address`, `no-token`.
    public let code: String
    /// One English sentence.
    public let message: String
    /// How long the gateway wants to be left alone; nil where it does not say.
    public let retryAfter: Duration?

    init(status: Int? = nil, _ code: String, _ message: String, retryAfter: Duration? = nil) {
        (self.status, self.code, self.message, self.retryAfter) = (status, code, message, retryAfter)
    }

    /// Whether asking again may help.
    public var isTransient: Bool {
        guard let status else { return code == "unreachable" || code == "timeout" || code == "no-token" }
        return status == 408 || status == 429 || 500...599 ~= status
    }

    /// Whether the token, or that there is none, does not permit it.
    public var isAboutPermission: Bool { status == 401 || status == 403 }

    public var description: String { message }

    static let cancelled = GatewayError("cancelled", "The task was cancelled.")

    static func unexpected(_ what: String) -> GatewayError { GatewayError("unexpected-answer", what) }

    static func tooLarge(_ limit: Int) -> GatewayError {
        GatewayError("answer-too-large", "The answer has more than \(limit) bytes.")
    }
}

extension GatewayError {
    /// Greatest size of an answer that is an error.
    static let mostBytes = 64 << 10

    /// What an answer other than 2xx says. The answer may be of a proxy, or of no gateway at all.
    init(_ response: HTTPURLResponse, _ bytes: [UInt8]) {
        let status = response.statusCode
        let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
        let retryAfter = seconds.map { Duration.seconds(min(max($0, 0), 3600)) }
        if let error = StrokeResults.error(of: bytes) {
            let message = error.message.isEmpty ? "The gateway answers \(error.code)." : error.message
            self.init(status: status, error.code, message, retryAfter: retryAfter)
        } else {
            self.init(
                status: status, "unexpected-answer", "The server answers \(status), and not as a gateway does.",
                retryAfter: retryAfter)
        }
    }

    /// The transfer did not come to its end.
    init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .cancelled?: self = .cancelled
        case .timedOut?: self.init("timeout", "The server does not answer.")
        default: self.init("unreachable", "The server cannot be reached: \(error.localizedDescription)")
        }
    }
}

extension GatewayFailure {
    /// As sessions of teachers have it.
    init(_ error: GatewayError) {
        self.init(status: error.status ?? 0, code: error.code, message: error.message, retryAfter: error.retryAfter)
    }
}
