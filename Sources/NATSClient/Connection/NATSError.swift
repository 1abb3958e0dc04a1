internal import CNATS

/// Why a NATS operation failed.
public enum NATSError: Error, Sendable, Equatable {
    /// There is no connection at the moment, and nothing was sent. A new connection is being made.
    case disconnected
    /// The connection was closed by its owner, for good.
    case closed
    /// No answer came in time.
    case timeout
    /// Nobody subscribes to the subject of a request.
    case noResponders
    /// This user lacks the permission.
    case notPermitted(PermissionViolation)
    /// The task that waited was cancelled.
    case cancelled
    /// The server is slower than its publishers: more than `limit` bytes wait to be sent. Nothing was sent; try again
    /// later.
    case backlogged(limit: Int)
    /// The message of `size` bytes with its headers exceeds the server's limit.
    case payloadTooLarge(size: Int, limit: Int)
    /// A subject that is empty or too long, or has blanks, control characters, empty tokens or a misplaced wildcard.
    case invalidSubject(String)
    /// A header whose name or value is blank or has control characters.
    case invalidHeader(String)
    /// A reply whose part number cannot be read.
    case malformedReply(String)
    /// Too many requests wait for replies, or the replies gathered so far are too large together; the limits are
    /// documented at `NATSConnection.request` and `requestParts`.
    case tooManyRequests
    /// The reply is larger than `limit` bytes.
    case replyTooLarge(limit: Int)
    /// A file of the settings, of credentials or certificates, cannot be read, or is something else.
    case unreadableFile(path: String, why: String)
    /// The settings are invalid; the reason, without passwords.
    case invalidSettings(String)
    /// Another error of libnats: its status and text.
    case status(code: Int, text: String)
}

extension NATSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .disconnected: "not connected to NATS at the moment"
        case .closed: "the NATS connection is closed"
        case .timeout: "no answer from NATS in time"
        case .noResponders: "nobody answers requests on this subject"
        case .notPermitted(let violation): "\(violation)"
        case .cancelled: "the wait for NATS was cancelled"
        case .backlogged(let limit): "NATS is slower than its publishers: \(limit) bytes wait to be sent"
        case .payloadTooLarge(let size, let limit): "a message of \(size) bytes; the server takes \(limit)"
        case .invalidSubject(let subject): "invalid subject: \(subject.debugDescription)"
        case .invalidHeader(let field): "invalid header: \(field.debugDescription)"
        case .malformedReply(let why): "malformed reply: \(why)"
        case .tooManyRequests: "too many requests wait for replies"
        case .replyTooLarge(let limit): "the reply is larger than \(limit) bytes"
        case .unreadableFile(let path, let why): "\(path): cannot be read: \(why)"
        case .invalidSettings(let why): why
        case .status(let code, let text): "libnats: \(text) (status \(code))"
        }
    }
}

extension NATSError {
    /// Whether the server knows no such user, or another password.
    package var isAboutUser: Bool {
        guard case .status(let code, _) = self else { return false }
        return code == Int(NATS_CONNECTION_AUTH_FAILED.rawValue)
    }

    /// The error for a status that is not `NATS_OK`.
    init(_ status: natsStatus) {
        switch status {
        case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION, NATS_IO_ERROR:
            self = .disconnected
        case NATS_DRAINING:
            self = .closed
        case NATS_TIMEOUT:
            self = .timeout
        case NATS_NO_RESPONDERS:
            self = .noResponders
        default:
            let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "unknown"
            self = .status(code: Int(status.rawValue), text: text)
        }
    }

    /// The error of a call that has just failed on this thread, with libnats' detailed text.
    init(connecting status: natsStatus) {
        self.init(status)
        guard case .status(let code, let text) = self, let words = nats_GetLastError(nil) else { return }
        // `(conn.c:4212): no nkey user seed found in 'class.creds'`
        let detail = String(cString: words).split(separator: "): ", maxSplits: 1).last.map(String.init) ?? ""
        guard !detail.isEmpty, detail != text else { return }
        self = .status(code: code, text: status == NATS_ERR ? detail : "\(text): \(detail)")
    }
}

/// A publish or subscribe that the server refused for lack of permission.
public struct PermissionViolation: Sendable, Equatable, CustomStringConvertible {
    /// What needs a permission.
    public enum Action: String, Sendable {
        case publish = "publish to"
        case subscribe = "subscribe to"
    }

    /// What was attempted.
    public let action: Action
    /// The subject as requested, which may have wildcards for a subscription.
    public let subject: String

    /// A violation of `action` on `subject`.
    public init(_ action: Action, _ subject: String) {
        self.action = action
        self.subject = subject
    }

    /// One line for a person.
    public var description: String { "this NATS user may not \(action.rawValue) \(subject)" }
}

extension PermissionViolation {
    /// Parses the server's `-ERR`: `Permissions Violation for Publish to "a.b"` (nats-server 2.9).
    /// - Returns: nil for any other text.
    init?(reported text: String) {
        // The text before the quotation mark, the subject, and what may follow, such as a queue.
        let parts = text.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let words = parts.first else { return nil }
        if words.hasSuffix("Permissions Violation for Publish to ") {
            self.init(.publish, String(parts[1]))
        } else if words.hasSuffix("Permissions Violation for Subscription to ") {
            self.init(.subscribe, String(parts[1]))
        } else {
            return nil
        }
    }
}
