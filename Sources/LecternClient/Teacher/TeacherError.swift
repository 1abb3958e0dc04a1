public import NATSClient

/// What ends publishing before its time.
public enum TeacherError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What NATS says to a message that it never takes, or a connection that was closed.
    case nats(NATSError)
    /// The outbox file is another lesson's, or cannot be written.
    case outbox(OutboxFileError)

    public var description: String {
        switch self {
        case .nats(let error): "\(error)"
        case .outbox(let error): "\(error)"
        }
    }
}
