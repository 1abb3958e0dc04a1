public import StrokeWire

/// An operation as a student has it: complete, whatever the number of messages it came in.
public struct ReleasedOperation: Sendable, Equatable {
    /// Its place in the room, from 1.
    public let index: UInt64
    /// Who drew.
    public let author: AuthorID
    /// Of an undo or redo: the operation that leaves or returns.
    public let reference: UInt64?
    /// Whether a policy, not the clock, released it, or the stroke itself came late.
    public let isLate: Bool
    /// What it does.
    public let action: Action
    /// The compact message, unsharded.
    public let bytes: [UInt8]
    /// The digest that the service gives for the board after it; nil in the reply to a join, which has one for all.
    public let digest: BoardDigest?

    /// An operation from what it consists of.
    public init(
        index: UInt64, author: AuthorID, reference: UInt64? = nil, isLate: Bool = false, action: Action,
        bytes: [UInt8], digest: BoardDigest? = nil
    ) {
        self.index = index
        self.author = author
        self.reference = reference
        self.isLate = isLate
        self.action = action
        self.bytes = bytes
        self.digest = digest
    }
}

extension ReleasedOperation {
    /// An operation out of the reply to a join.
    init(_ joined: JoinedOperation) throws(MalformedRelease) {
        let bytes = Array(joined.message)
        do throws(MalformedMessage) {
            let header = try StrokeMessage(decoding: bytes, limits: ReleasedMessage.limits)
            self.init(
                index: joined.index, author: joined.author, reference: joined.reference, isLate: joined.isLate,
                action: header.action, bytes: bytes)
        } catch {
            throw MalformedRelease(description: "operation \(joined.index) of a join: \(error.rejection.message)")
        }
    }
}
