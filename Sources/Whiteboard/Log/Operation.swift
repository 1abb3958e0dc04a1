public import StrokeWire

/// An accepted operation: one entry of a room's log.
public struct Operation: Sendable {
    /// What the operation did to the board.
    public enum Effect: Sendable {
        case draw(Stroke)
        /// The operation at `reference`, a stroke or an undoable clear, was taken back.
        case undo(reference: UInt64)
        /// The operation at `reference` was done again.
        case redo(reference: UInt64)
        case clear(Clear)
    }

    /// Its place in the log, dense, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// Its number in its author's count.
    public let number: Int64
    public let effect: Effect
    /// Whether it came after it had been given up.
    public let isLate: Bool
    /// Media time in milliseconds, where the message gave one.
    public let time: Int64?
    /// The digest of the board after this operation.
    public let digest: BoardDigest
    /// The compact message that goes out: as it came in, or joined from its shards.
    public internal(set) var message: [UInt8]
    /// Whether the message was joined from shards.
    public let isJoined: Bool

    /// The fields of a message that was joined from shards, nil of any other. Decodes the message.
    public var joined: StrokeMessage? {
        guard isJoined else { return nil }
        // It was within the room's limits when it came.
        return try? StrokeMessage(
            decoding: restoredMessage, limits: WireLimits(messageBytes: .max, points: .max, colours: .rgb))
    }

    /// The operation that an undo or redo moves, nil for draw and clear.
    public var reference: UInt64? {
        switch effect {
        case .undo(let reference), .redo(let reference): reference
        case .draw, .clear: nil
        }
    }

    public var action: Action {
        switch effect {
        case .draw: .draw
        case .undo: .undo
        case .redo: .redo
        case .clear: .clear
        }
    }

    /// The message as it lies in the log: strokes that every cohort has released are packed.
    public var restoredMessage: [UInt8] {
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.message.bytes }
        return message
    }
}
