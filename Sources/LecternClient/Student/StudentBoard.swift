public import StrokeWire

/// A student's board: the result of all operations up to its index.
public struct StudentBoard: Sendable {
    /// An operation that contradicts the board: student and service disagree.
    public struct Divergence: Error, Sendable, Equatable, CustomStringConvertible {
        /// One English sentence.
        public let description: String
    }

    /// Byte limit of the strokes kept of clears, the newest first. The undo of an older clear needs a new join.
    private static let maximumClearedBytes = 32 << 20
    /// Number of undone operations kept, the newest first. The redo of an older one needs a new join.
    private static let maximumUndone = 1024

    private enum Undone: Sendable {
        case stroke(ReleasedOperation)
        case clear(index: UInt64, page: Int)

        var index: UInt64 {
            switch self {
            case .stroke(let stroke): stroke.index
            case .clear(let index, _): index
            }
        }

        var page: Int {
            switch self {
            case .stroke(let stroke): stroke.page
            case .clear(_, let page): page
            }
        }
    }

    /// Incarnation of the room; empty for a room without operations.
    public internal(set) var room = ""
    /// Index of the last applied operation; 0 for none.
    public private(set) var index: UInt64 = 0
    /// Which pages there are, in which order, and which one is shown.
    public private(set) var pages = BoardPages()
    /// The visible strokes of all pages, bottom to top.
    public private(set) var visible = BoardStrokes()
    private var undone: [Undone] = []
    private var cleared: [(clear: UInt64, strokes: BoardStrokes)] = []

    /// The board of a room without operations.
    public init() {}

    /// Digest of the visible strokes.
    public var digest: BoardDigest { visible.digest }

    /// Applies the next operation.
    ///
    /// - Throws: when the index is not the next one, the reference is unknown or the digest differs. The board is
    ///   unusable then, and a join must replace it.
    public mutating func apply(_ operation: ReleasedOperation) throws(Divergence) {
        guard operation.index == index &+ 1 else {
            throw Divergence(description: "operation \(operation.index) cannot follow \(index)")
        }
        switch operation.action {
        case .draw:
            pages.add(operation.page)
            visible.insert(operation)
        case .undo:
            try undo(operation)
        case .redo:
            try redo(operation)
        case .clear:
            undone.removeAll { $0.page == operation.page }
            clear(operation.page, at: operation.index)
        case .turn:
            pages.turn(to: operation.page)
        case .arrange:
            guard let order = operation.order else {
                throw Divergence(description: "arrange \(operation.index) has no order")
            }
            pages.arrange(order)
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
            undone.append(.clear(index: reference, page: operation.page))
        } else {
            throw Divergence(description: "undo \(operation.index) of \(reference), which is not on the board")
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
        case .clear(let index, let page): clear(page, at: index)
        }
    }

    private mutating func clear(_ page: Int, at index: UInt64) {
        cleared.append((clear: index, strokes: visible.removeAll(on: page)))
        var bytes = cleared.reduce(0) { $0 + $1.strokes.bytes }
        while cleared.count > 1, bytes > Self.maximumClearedBytes {
            bytes -= cleared.removeFirst().strokes.bytes
        }
    }
}

extension StudentBoard {
    /// Decodes the board of a join reply.
    ///
    /// - Throws: when a message cannot be decoded, or the digest is not that of the strokes.
    init(_ reply: JoinReply) throws(MalformedRelease) {
        guard case .board(_, _, let visible, let redo, let cleared) = reply.content else {
            throw MalformedRelease(description: "the reply to a join has no board")
        }
        room = reply.room
        index = reply.index
        pages = reply.pages
        self.visible = try BoardStrokes(visible)
        for operation in redo {
            let operation = try ReleasedOperation(operation)
            undone.append(
                operation.action == .clear ? .clear(index: operation.index, page: operation.page) : .stroke(operation))
        }
        for board in cleared { self.cleared.append((board.index, try BoardStrokes(board.visible))) }
        guard digest == reply.digest else {
            throw MalformedRelease(
                description: "the board of a join has digest \(digest), the service says \(reply.digest)")
        }
    }
}

/// The strokes of a board, bottom to top, which is the order of their indices.
public struct BoardStrokes: Sendable, RandomAccessCollection {
    private var strokes: [ReleasedOperation] = []
    /// Digest of the strokes.
    public private(set) var digest = BoardDigest.empty
    /// Size of all messages in bytes.
    private(set) var bytes = 0

    /// No strokes.
    public init() {}

    /// The strokes of a join reply, in any order.
    init(_ operations: [JoinedOperation]) throws(MalformedRelease) {
        for operation in operations { insert(try ReleasedOperation(operation)) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { strokes.count }

    /// The stroke at a position from the bottom, 0 … `count − 1`.
    public subscript(position: Int) -> ReleasedOperation { strokes[position] }

    /// Inserts a stroke by its index; does nothing when the index is present.
    mutating func insert(_ stroke: ReleasedOperation) {
        let position = position(of: stroke.index)
        guard position == strokes.count || strokes[position].index != stroke.index else { return }
        strokes.insert(stroke, at: position)
        bytes += stroke.bytes.count
        digest.insert(stroke.index)
    }

    /// Removes the stroke with this index, if there is one.
    mutating func remove(_ index: UInt64) -> ReleasedOperation? {
        let position = position(of: index)
        guard position < strokes.count, strokes[position].index == index else { return nil }
        let stroke = strokes.remove(at: position)
        bytes -= stroke.bytes.count
        digest.remove(index)
        return stroke
    }

    /// Removes the strokes of a page.
    /// - Returns: them.
    mutating func removeAll(on page: Int) -> BoardStrokes {
        guard strokes.contains(where: { $0.page != page }) else {
            defer { self = BoardStrokes() }
            return self
        }
        var removed = BoardStrokes()
        for stroke in strokes where stroke.page == page { removed.insert(stroke) }
        strokes.removeAll { $0.page == page }
        bytes -= removed.bytes
        digest.subtract(removed.digest)
        return removed
    }

    private func position(of index: UInt64) -> Int {
        if let last = strokes.last, last.index < index { return strokes.count }
        var (low, high) = (0, strokes.count)
        while low < high {
            let middle = (low + high) / 2
            if strokes[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
