public import NATSClient

/// Why the journal could not be read or written.
public enum JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What JetStream says about one of the partition's streams.
    case stream(name: String, JetStreamError)
    /// A state of that many bytes has more parts than a checkpoint may have.
    case checkpointTooLarge(bytes: Int)

    public var description: String {
        switch self {
        case .stream(let name, let error): "\(name): \(error)"
        case .checkpointTooLarge(let bytes): "a checkpoint of \(bytes) bytes is too large"
        }
    }
}
