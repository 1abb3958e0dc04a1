public import StrokeWire

/// An accepted operation: one entry of a room's log.
public struct Operation: Sendable {
    /// What the operation did to the board.
    public enum Effect: Sendable {
        /// A stroke, an image or a lasso came on the board; or a pointer, which the board passes over.
        case draw(Stroke)
        /// The operation at `reference`, a stroke or an undoable clear, was undone.
        case undo(reference: UInt64, page: Int)
        /// The operation at `reference` was redone.
        case redo(reference: UInt64, page: Int)
        case clear(Removal)
        /// Entries of a page were taken off the board.
        case remove(Removal)
        /// A page was shown.
        case turn(page: Int)
        /// The pages were put in this order; `shown` is the page shown after it.
        indirect case arrange([Int], shown: Int)
        /// A paper was laid under a page.
        indirect case paper(Paper, page: Int)
    }

    /// All but the message: one reference, for an operation is copied on its way through the gate and out.
    private final class Fields: Sendable {
        let index: UInt64
        let author: AuthorID
        let number: Int64
        let effect: Effect
        let isLate: Bool
        let time: Int64?
        let digest: BoardDigest
        let isJoined: Bool

        init(
            index: UInt64, author: AuthorID, number: Int64, effect: Effect, isLate: Bool, time: Int64?,
            digest: BoardDigest, isJoined: Bool
        ) {
            (self.index, self.author, self.number, self.effect) = (index, author, number, effect)
            (self.isLate, self.time, self.digest, self.isJoined) = (isLate, time, digest, isJoined)
        }
    }

    private let fields: Fields
    /// The compact message that goes out: as it came, or joined from its shards. Empty for a packed stroke; see
    /// ``restoredMessage``.
    public let message: [UInt8]

    init(
        index: UInt64, author: AuthorID, number: Int64, effect: Effect, isLate: Bool, time: Int64?,
        digest: BoardDigest, message: [UInt8], isJoined: Bool
    ) {
        fields = Fields(
            index: index, author: author, number: number, effect: effect, isLate: isLate, time: time, digest: digest,
            isJoined: isJoined)
        self.message = message
    }

    /// The same operation with its stroke in another block.
    func with(_ effect: Effect) -> Operation {
        Operation(
            index: index, author: author, number: number, effect: effect, isLate: isLate, time: time, digest: digest,
            message: message, isJoined: isJoined)
    }

    /// Its place in the log, dense, from 1.
    public var index: UInt64 { fields.index }
    public var author: AuthorID { fields.author }
    /// Its number in its author's sequence.
    public var number: Int64 { fields.number }
    public var effect: Effect { fields.effect }
    /// Whether it came after it had been given up.
    public var isLate: Bool { fields.isLate }
    /// Media time in milliseconds; nil where the message gave none.
    public var time: Int64? { fields.time }
    /// The digest of the board after this operation.
    public var digest: BoardDigest { fields.digest }
    /// Whether the message was joined from shards.
    public var isJoined: Bool { fields.isJoined }

    /// The fields of a stroke's message; nil for other actions.
    /// - Parameter message: ``restoredMessage``.
    public func fields(of message: [UInt8]) -> StrokeMessage? {
        guard action == .draw else { return nil }
        // It was within the room's limits when it came.
        return try? StrokeMessage(decoding: message, limits: .accepted)
    }

    /// The operation that an undo or redo refers to; nil for other actions.
    public var reference: UInt64? {
        switch effect {
        case .undo(let reference, _), .redo(let reference, _): reference
        case .draw, .clear, .turn, .arrange, .paper, .remove: nil
        }
    }

    /// The page that the operation concerns; of an arrange the one shown after it.
    public var page: Int {
        switch effect {
        case .draw(let stroke): stroke.page
        case .undo(_, let page), .redo(_, let page), .turn(let page), .arrange(_, let page), .paper(_, let page):
            page
        case .clear(let removal), .remove(let removal): removal.page
        }
    }

    /// Whether the board passes over it.
    var isPointer: Bool {
        if case .draw(let stroke) = effect { stroke.kind == .pointer } else { false }
    }

    /// The asset that it places on a page: of an image, or of a slide under the ink.
    public var asset: AssetID? {
        switch effect {
        case .draw(let stroke): stroke.image?.asset
        case .paper(let paper, _): paper.asset
        case .undo, .redo, .clear, .remove, .turn, .arrange: nil
        }
    }

    public var action: Action {
        switch effect {
        case .draw: .draw
        case .undo: .undo
        case .redo: .redo
        case .clear: .clear
        case .turn: .turn
        case .arrange: .arrange
        case .paper: .paper
        case .remove: .remove
        }
    }

    /// Bytes of the message, packed or not.
    public var messageByteCount: Int {
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.messageByteCount }
        return message.count
    }

    /// The message, unpacked where every cohort has released it.
    public var restoredMessage: [UInt8] {
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.message.bytes }
        return message
    }

    /// The message in the binary form. A stroke's is copied from what the room keeps of it.
    package var payload: BinaryPayload {
        if case .draw(let stroke) = effect { return stroke.message.payload }
        return BinaryPayload(packing: message, points: .empty)
    }
}

/// A clear or a removal as histories keep it where it can be undone. Immutable and shared.
public final class Removal: Sendable {
    /// The operation's index in the room's log, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// The page that it concerns.
    public let page: Int
    /// The entries that it removes by their indices; nil for a clear, which removes all.
    public let indices: [UInt64]?
    /// The compact message.
    public let message: [UInt8]

    init(index: UInt64, author: AuthorID, page: Int, indices: [UInt64]? = nil, message: [UInt8]) {
        (self.index, self.author, self.page, self.indices, self.message) = (index, author, page, indices, message)
    }

    public var isClear: Bool { indices == nil }

    /// Without that of the strokes that it removed.
    var weight: Weight {
        Weight(points: Weight.points(messageBytes: message.count, points: indices?.count ?? 0))
    }
}
