public import StrokeWire

/// A student's board: the fold of the released operations, as the service describes it by index, references and digest.
public struct StudentBoard: Sendable {
    /// Why an operation cannot be the next one on this board: student and service do not agree.
    public struct Divergence: Error, Sendable, Equatable, CustomStringConvertible {
        /// One English sentence.
        public let description: String
    }

    /// What clears took away is kept up to so many bytes, the newest first. A student for whom an older one is undone
    /// joins again.
    private static let maximumClearedBytes = 32 << 20
    /// What was undone is kept up to this number, the newest first; likewise.
    private static let maximumUndone = 1024

    private enum Undone: Sendable {
        case stroke(ReleasedOperation)
        case clear(index: UInt64)

        var index: UInt64 {
            switch self {
            case .stroke(let stroke): stroke.index
            case .clear(let index): index
            }
        }
    }

    /// Incarnation of the room; empty for a room that nobody has written to.
    public internal(set) var room = ""
    /// Index of the last operation applied, 0 for none.
    public private(set) var index: UInt64 = 0
    /// The strokes that are seen, bottom to top.
    public private(set) var visible = BoardStrokes()
    private var undone: [Undone] = []
    private var cleared: [(clear: UInt64, strokes: BoardStrokes)] = []

    /// The board of a room that nobody has written to.
    public init() {}

    /// Digest of the visible strokes.
    public var digest: BoardDigest { visible.digest }

    /// Applies the next operation.
    ///
    /// - Throws: when it does not fit: not the next index, a reference to what is not there, another digest. Only a
    ///   join helps then; the board must not be used further.
    public mutating func apply(_ operation: ReleasedOperation) throws(Divergence) {
        guard operation.index == index &+ 1 else {
            throw Divergence(description: "operation \(operation.index) cannot follow \(index)")
        }
        switch operation.action {
        case .draw:
            visible.insert(operation)
        case .undo:
            try undo(operation)
        case .redo:
            try redo(operation)
        case .clear:
            undone = []
            clear(at: operation.index)
        }
        index = operation.index
        guard let expected = operation.digest, expected != digest else { return }
        throw Divergence(description: "digest \(digest) after operation \(index), the service says \(expected)")
    }

    private mutating func undo(_ operation: ReleasedOperation) throws(Divergence) {
        guard let reference = operation.reference else {
            throw Divergence(description: "undo \(operation.index) has no reference")
        }
        if let stroke = visible.remove(reference) {
            undone.append(.stroke(stroke))
        } else if let position = cleared.lastIndex(where: { $0.clear == reference }) {
            for stroke in cleared.remove(at: position).strokes { visible.insert(stroke) }
            undone.append(.clear(index: reference))
        } else {
            throw Divergence(description: "undo \(operation.index) of \(reference), which is not there")
        }
        if undone.count > Self.maximumUndone { undone.removeFirst() }
    }

    private mutating func redo(_ operation: ReleasedOperation) throws(Divergence) {
        guard let reference = operation.reference else {
            throw Divergence(description: "redo \(operation.index) has no reference")
        }
        guard let position = undone.lastIndex(where: { $0.index == reference }) else {
            throw Divergence(description: "redo \(operation.index) of \(reference), which was not undone")
        }
        switch undone.remove(at: position) {
        case .stroke(let stroke): visible.insert(stroke)
        case .clear(let index): clear(at: index)
        }
    }

    private mutating func clear(at index: UInt64) {
        cleared.append((index, visible))
        visible = BoardStrokes()
        var bytes = cleared.reduce(0) { $0 + $1.strokes.bytes }
        while cleared.count > 1, bytes > Self.maximumClearedBytes {
            bytes -= cleared.removeFirst().strokes.bytes
        }
    }
}

extension StudentBoard {
    /// The board of a join reply.
    ///
    /// - Throws: when its digest is not that of its strokes, or a message cannot be read.
    init(_ reply: JoinReply) throws(MalformedRelease) {
        guard case .board(_, _, let visible, let redo, let cleared) = reply.content else {
            throw MalformedRelease(description: "the reply to a join has no board")
        }
        room = reply.room
        index = reply.index
        self.visible = try BoardStrokes(visible)
        for operation in redo {
            let operation = try ReleasedOperation(operation)
            undone.append(operation.action == .clear ? .clear(index: operation.index) : .stroke(operation))
        }
        for board in cleared { self.cleared.append((board.index, try BoardStrokes(board.visible))) }
        guard digest == reply.digest else {
            throw MalformedRelease(
                description: "the board of a join has digest \(digest), the service says \(reply.digest)")
        }
    }
}
