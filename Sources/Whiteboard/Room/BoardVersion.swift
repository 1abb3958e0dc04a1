public import StrokeWire

/// The board of a room at one position of its log. A snapshot: make the board of it on any thread.
public struct BoardVersion: Sendable {
    /// A board at the position or before it.
    private let start: Board
    /// The operations from there to the position.
    private let operations: [Operation]

    /// A board as it is.
    public init(_ board: Board) { self.init(start: board, operations: []) }

    /// - Parameter operations: those that follow `start` in the log, in order.
    init(start: Board, operations: [Operation]) { (self.start, self.operations) = (start, operations) }

    /// The position: the index of the last operation that the board shows.
    public var index: UInt64 { operations.last?.index ?? start.index }

    /// Digest of the strokes that are visible at the position.
    public var digest: BoardDigest { operations.last?.digest ?? start.digest }

    /// The pages at the position.
    public var pages: BoardPages { operations.isEmpty ? start.pages : board.pages }

    /// The board's size at the position. Does not make the board.
    public var size: BoardSize {
        if let size = start.fixedSize { return size }
        for operation in operations {
            if case .draw(let stroke) = operation.effect, let size = BoardSize(firstDraw: stroke) { return size }
        }
        return .standard
    }

    /// Whether a page other than page 0 has ever been.
    var hasPages: Bool {
        start.hasPages
            || operations.contains {
                $0.page != 0 && !$0.isPointer || $0.action == .arrange || $0.action == .paper
            }
    }

    /// Whether images may be on a page. Does not make the board.
    public var mayHaveImages: Bool {
        start.hasImages
            || operations.contains { operation in
                switch operation.effect {
                case .draw(let stroke): stroke.kind == .image
                case .paper(let paper, _): paper.asset != nil
                default: false
                }
            }
    }

    /// The board at the position. Applies as many operations as a log keeps at most.
    public var board: Board {
        var board = start
        for operation in operations { board.apply(operation) }
        return board
    }

    /// Bytes that it keeps in memory beside the room, about, or more.
    public var byteEstimate: Int { operations.reduce(start.byteEstimate) { $0 + $1.byteEstimate } }
}

extension Room {
    /// The board as a cohort saw it at an earlier position, or sees it now.
    /// - Returns: nil for a position that the cohort has not reached, or that the log no longer holds.
    public func board(of cohort: CohortName, at index: UInt64) -> BoardVersion? {
        version(at: index, before: board(of: cohort))
    }

    /// The board at the head of the log, or as it was when the head was at `index`.
    /// - Returns: nil for a position beyond the head, or that the log no longer holds.
    public func head(at index: UInt64) -> BoardVersion? { version(at: index, before: head) }

    /// - Parameter last: the board at the last position that may be seen.
    private func version(at index: UInt64, before last: Board) -> BoardVersion? {
        guard index <= last.index else { return nil }
        if index == last.index { return BoardVersion(last) }
        // The fewer operations, the sooner it is made.
        var start = log.base
        for position in 0..<views.count {
            let shown = views[position].board
            if shown.index <= index, start.index < shown.index { start = shown }
        }
        guard start.index <= index, let operations = log.operations.tail(after: start.index, through: index) else {
            return nil
        }
        return BoardVersion(start: start, operations: operations)
    }
}
