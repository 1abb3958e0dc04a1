/// Why something asked of NATS did not happen.
public enum NATSError: Error, Sendable, Equatable {
    /// There is no connection at the moment; nothing was sent. The connection is being made again.
    case disconnected
    /// The connection was closed by its owner and stays closed.
    case closed
    /// No answer came in time.
    case timeout
    /// The server says that nobody subscribes to the subject of a request.
    case noResponders
    /// The server does not let this user do it.
    case notPermitted(Denial)
    /// The task that waited was cancelled.
    case cancelled
    /// The message, of `size` bytes with its headers, is larger than the server takes.
    case payloadTooLarge(size: Int, limit: Int)
    /// Empty, too long, or has blanks, control characters, empty tokens, or wildcards where none may be.
    case invalidSubject(String)
    /// A header name or value that the protocol cannot carry: blank, or with control characters.
    case invalidHeader(String)
    /// A reply that does not follow the rules for replies in parts.
    case malformedReply(String)
    /// Too many requests wait for their replies; the limit is documented at `NATSConnection.request`.
    case tooManyRequests
    /// The reply is larger than a caller may be asked to hold.
    case replyTooLarge(limit: Int)
    /// The file of credentials cannot be read; what the system says.
    case unreadableCredentials(path: String, why: String)
    /// What libnats reported, with its number and words.
    case status(code: Int, text: String)
}

extension NATSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .disconnected: "not connected to NATS at the moment"
        case .closed: "the NATS connection is closed"
        case .timeout: "no answer from NATS in time"
        case .noResponders: "nobody answers requests on this subject"
        case .notPermitted(let denial): "\(denial)"
        case .cancelled: "the wait for NATS was cancelled"
        case .payloadTooLarge(let size, let limit): "a message of \(size) bytes; the server takes \(limit)"
        case .invalidSubject(let subject): "not a valid subject: \(subject.debugDescription)"
        case .invalidHeader(let field): "not a valid header: \(field.debugDescription)"
        case .malformedReply(let why): "malformed reply: \(why)"
        case .tooManyRequests: "too many requests wait for replies"
        case .replyTooLarge(let limit): "the reply is larger than \(limit) bytes"
        case .unreadableCredentials(let path, let why): "\(path): the credentials cannot be read: \(why)"
        case .status(let code, let text): "libnats: \(text) (status \(code))"
        }
    }
}
