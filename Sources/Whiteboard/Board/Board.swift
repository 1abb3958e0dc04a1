import DequeModule
public import StrokeWire

/// The result of a room's operations 1…`index`: visible strokes, undo and redo stacks, digest.
///
/// A value: a copy is a version. The same operations give the same board on every machine.
public struct Board: Sendable {
    /// Index of the last operation applied, 0 for none.
    public private(set) var index: UInt64 = 0
    /// The visible strokes, bottom to top.
    public private(set) var visible = VisibleStrokes()
    /// The board's size, configured or fixed by the first draw; nil while unknown.
    public private(set) var fixedSize: BoardSize?
    /// Of all strokes that are visible or could be brought back.
    private(set) var weight = BoardWeight()
    private let weightLimit: Int
    /// Index of the last clear, 0 for none.
    public private(set) var lastClear: UInt64 = 0
    private(set) var history: History

    /// - Parameters:
    ///   - size: the configured size of the board; nil to take it from the first draw.
    ///   - weightLimit: the greatest weight of all strokes that are visible or could be brought back. Where a draw or a
    ///     clear exceeds it, the oldest undoable clears become final.
    public init(history: HistoryConfiguration, size: BoardSize?, weightLimit: Int = .max) {
        self.history = History(history)
        self.weightLimit = weightLimit
        fixedSize = size
    }

    /// The board of a blank room.
    init(_ configuration: RoomConfiguration) {
        self.init(
            history: configuration.history, size: configuration.boardSize, weightLimit: configuration.intake.boardPoints
        )
    }

    /// A board restored from a checkpoint.
    init(
        index: UInt64, visible: VisibleStrokes, history: History, size: BoardSize?, weightLimit: Int, lastClear: UInt64
    ) {
        self.index = index
        self.visible = visible
        self.history = history
        self.weightLimit = weightLimit
        fixedSize = size
        self.lastClear = lastClear
        weight.visible = visible.weight
        for entry in history.undone { weight.undone += entry.hiddenWeight }
        for entry in history.done where entry.isClear { weight.cleared += entry.hiddenWeight }
    }

    /// The board's size; the standard one until it is known.
    public var size: BoardSize { fixedSize ?? .standard }

    /// Bytes of a reply that brings the board, or more. Constant time.
    public var byteEstimate: Int { 256 + weight.total * BoardWeight.bytesOfUnit }

    /// Digest of the visible strokes.
    public var digest: BoardDigest { visible.digest }

    /// The redo stack, its top last.
    public var undone: [UndoneEntry] {
        history.undone.map { entry in
            switch entry {
            case .stroke(let stroke): .stroke(stroke)
            case .clear(let clear, _, _): .clear(clear)
            }
        }
    }

    /// Clears that can still be undone, oldest first, with the strokes that each removed.
    public var undoableClears: [(clear: Clear, removed: VisibleStrokes)] {
        history.done.compactMap { entry in
            if case .clear(let clear, let removed, _) = entry { (clear, removed) } else { nil }
        }
    }

    /// An entry of the redo stack.
    public enum UndoneEntry: Sendable {
        case stroke(Stroke)
        case clear(Clear)
    }

    /// Whether a stroke of this weight may be drawn. Undoable clears become final to make room for it.
    func hasRoom(for stroke: Int) -> Bool {
        stroke <= weightLimit - (weight.visible + weight.undone)
    }

    /// The operation that an undo or redo by `author` refers to; nil for draw and clear.
    /// - Throws: `nothing-to-undo`, `nothing-to-redo`.
    func reference(of action: Action, by author: AuthorID) throws(Rejection) -> UInt64? {
        switch action {
        case .draw, .clear:
            return nil
        case .undo:
            guard let index = history.undoReference(for: author) else { throw .nothingToUndo }
            return index
        case .redo:
            guard let index = history.redoReference(for: author) else { throw .nothingToRedo }
            return index
        }
    }

    /// Applies the next operation.
    /// - Precondition: `index == self.index + 1`
    mutating func apply(_ effect: Operation.Effect, at index: UInt64) {
        precondition(index == self.index + 1, "operations are applied one by one")
        self.index = index
        switch effect {
        case .draw(let stroke): draw(stroke)
        case .undo(let reference): undo(reference)
        case .redo(let reference): redo(reference)
        case .clear(let clear): self.clear(clear)
        }
    }

    mutating func apply(_ operation: Operation) {
        apply(operation.effect, at: operation.index)
    }

    /// Frees memory reserved for more strokes.
    mutating func compact() {
        visible.compact()
        history.compact()
    }

    /// Replaces the strokes by the same ones in other pages.
    mutating func move(_ moves: StrokeMoves) {
        visible.move(moves)
        history.move(moves)
    }

    /// Every stroke that is visible or could be brought back; some more than once.
    var strokes: [Stroke] {
        var strokes = Array(visible)
        for entry in history.done + history.undone {
            switch entry {
            case .stroke(let stroke): strokes.append(stroke)
            case .clear(_, let removed, _): strokes += removed
            }
        }
        return strokes
    }

    private mutating func draw(_ stroke: Stroke) {
        if fixedSize == nil, let header = stroke.decoded()?.header { fixedSize = BoardSize(firstDraw: header) }
        weight.visible += stroke.weight
        visible.insert(stroke)
        push(.stroke(stroke), by: stroke.author)
    }

    private mutating func undo(_ reference: UInt64) {
        guard let entry = history.takeDone(reference) else { return }
        switch entry {
        case .stroke(let stroke):
            visible.remove(stroke)
            weight.visible -= stroke.weight
            pushUndone(entry)
        case .clear(let clear, let removed, let removedWeight):
            visible.restore(removed)
            weight.visible += removedWeight
            weight.cleared -= entry.hiddenWeight
            pushUndone(.clear(clear, removed: VisibleStrokes(), weight: 0))
        }
    }

    private mutating func pushUndone(_ entry: HistoryEntry) {
        weight.undone += entry.hiddenWeight
        history.pushUndone(entry)
    }

    private mutating func redo(_ reference: UInt64) {
        guard let entry = history.takeUndone(reference) else { return }
        weight.undone -= entry.hiddenWeight
        let dropped: HistoryEntry?
        switch entry {
        case .stroke(let stroke):
            visible.insert(stroke)
            weight.visible += stroke.weight
            dropped = history.pushDone(entry)
        case .clear(let clear, _, _):
            dropped = history.pushDone(removeVisible(clear))
        }
        if let dropped { forget(dropped) }
    }

    private mutating func clear(_ clear: Clear) {
        lastClear = clear.index
        switch history.configuration.clear {
        case .final:
            visible = VisibleStrokes()
            history.empty()
            weight = BoardWeight()
        case .undoable:
            push(removeVisible(clear), by: clear.author)
        }
    }

    /// Removes all visible strokes.
    /// - Returns: the history entry that can restore them.
    private mutating func removeVisible(_ clear: Clear) -> HistoryEntry {
        let entry = HistoryEntry.clear(clear, removed: visible, weight: weight.visible)
        visible = VisibleStrokes()
        weight.visible = 0
        weight.cleared += entry.hiddenWeight
        return entry
    }

    private mutating func push(_ entry: HistoryEntry, by author: AuthorID) {
        let (dropped, lost) = history.push(entry, by: author)
        if let dropped { forget(dropped) }
        for entry in lost { weight.undone -= entry.hiddenWeight }
        while weight.total > weightLimit, let clear = history.dropOldestClear() { forget(clear) }
    }

    /// Notes that an entry can no longer be undone: a stroke stays on the board, what a clear removed is gone for good.
    private mutating func forget(_ dropped: HistoryEntry) {
        if dropped.isClear { weight.cleared -= dropped.hiddenWeight }
    }
}

/// Width and height of a room's board, in board units.
public struct BoardSize: Sendable, Equatable {
    public var width: Double
    public var height: Double

    /// The size of a room where no other is given: 1024 × 768.
    public static let standard = BoardSize(width: 1024, height: 768)

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The greater of both.
    public var longerSide: Double { max(width, height) }

    /// The size fixed by the first draw of a room; the standard's where the draw gives none.
    init(firstDraw header: StrokeMessage) {
        self.init(
            width: header.boardWidth ?? Self.standard.width, height: header.boardHeight ?? Self.standard.height)
    }

    /// Factors from a message's units to this board's: for x, y and line width.
    public func scale(for header: StrokeMessage) -> (x: Double, y: Double, width: Double) {
        let x = width / (header.boardWidth ?? width)
        let y = height / (header.boardHeight ?? height)
        return (x, y, min(x, y))
    }
}

/// What the strokes and clears of a board count for where memory is bounded, in points.
///
/// A stroke counts for its points, for at least one for every 32 bytes of its message, so that unknown keys do not get
/// around the bound, and for at least eight, so that dots do not. A point with `x` and `y` is no longer than 32 bytes as
/// clients write it. Depends on the message alone, as it came or was joined from its shards: every replica and every
/// release has to reject the same strokes, however it packs them.
struct BoardWeight: Sendable, Equatable {
    /// Of the visible strokes.
    var visible = 0
    /// Of the clears that can be undone, with the strokes that they removed.
    var cleared = 0
    /// Of the strokes and clears that can be redone.
    var undone = 0

    var total: Int { visible + cleared + undone }

    /// The greatest number of message bytes for each unit of weight.
    static let bytesOfUnit = 32

    static func weight(messageBytes: Int, points: Int) -> Int {
        max(points, (messageBytes + bytesOfUnit - 1) / bytesOfUnit, 8)
    }
}
