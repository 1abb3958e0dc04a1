/// Why a checkpoint could not be read.
public enum CheckpointError: Error, Sendable, Equatable {
    /// The bytes are not what a checkpoint has at this offset.
    case damaged(at: Int)
    /// Written in a form that this version of the library does not know.
    case unknownVersion(UInt8)
}
