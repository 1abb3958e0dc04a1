public import NATSClient
public import StrokeWire

/// Why the journal could not be read or written.
public enum JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What JetStream says about one of the partition's streams.
    case stream(name: String, JetStreamError)
    /// A state of that many bytes has more parts than a checkpoint may have.
    case checkpointTooLarge(bytes: Int)
    /// Another has saved the room since, through that record.
    case superseded(room: RoomID, by: UInt64)

    public var description: String {
        switch self {
        case .stream(let name, let error): "\(name): \(error)"
        case .checkpointTooLarge(let bytes): "a checkpoint of \(bytes) bytes is too large"
        case .superseded(let room, let sequence): "another daemon has saved \(room) since, through \(sequence)"
        }
    }
}
