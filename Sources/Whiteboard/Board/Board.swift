import DequeModule
public import StrokeWire

/// The fold of a room's operations 1…`index`: what is seen, what can be undone and redone, the digest.
///
/// A value: a copy is a version. The same operations give the same board on every machine.
public struct Board: Sendable {
    /// Index of the last operation folded in, 0 for none.
    public private(set) var index: UInt64 = 0
    /// The strokes that are seen, bottom to top.
    public private(set) var visible = VisibleStrokes()
    /// The board's size once it is known: configured, or fixed by the first draw.
    public private(set) var fixedSize: BoardSize?
    /// Weight of all strokes that are seen or could be brought back.
    private(set) var weight = 0
    /// Index of the last clear, 0 for none.
    public private(set) var lastClear: UInt64 = 0
    private(set) var history: History

    /// - Parameter size: the configured size of the board, nil to take it from the first draw.
    public init(history: HistoryConfiguration, size: BoardSize?) {
        self.history = History(history)
        fixedSize = size
    }

    /// A board as it was once.
    init(index: UInt64, visible: VisibleStrokes, history: History, size: BoardSize?, lastClear: UInt64) {
        self.index = index
        self.visible = visible
        self.history = history
        fixedSize = size
        self.lastClear = lastClear
        weight = visible.weight
        for entry in history.undone { weight += entry.hiddenWeight }
        for case .clear(_, let removed) in history.done { weight += removed.weight }
    }

    /// The board's size; the standard one until it is known.
    public var size: BoardSize { fixedSize ?? .standard }

    /// Digest of the visible strokes.
    public var digest: BoardDigest { visible.digest }

    /// Strokes and clears that a redo could bring back, the next one last.
    public var undone: [UndoneEntry] {
        history.undone.map { entry in
            switch entry {
            case .stroke(let stroke): .stroke(stroke)
            case .clear(let clear, _): .clear(clear)
            }
        }
    }

    /// Clears that can still be undone, oldest first, with what each took away.
    public var undoableClears: [(clear: Clear, removed: VisibleStrokes)] {
        history.done.compactMap { entry in
            if case .clear(let clear, let removed) = entry { (clear, removed) } else { nil }
        }
    }

    /// An entry of the redo stack.
    public enum UndoneEntry: Sendable {
        case stroke(Stroke)
        case clear(Clear)
    }

    /// What an undo or redo by `author` would move.
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

    /// Folds one more operation in.
    /// - Precondition: `index == self.index + 1`
    mutating func apply(_ effect: Operation.Effect, at index: UInt64) {
        precondition(index == self.index + 1, "operations are folded in one by one")
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

    /// Gives back memory that was taken for strokes to come.
    mutating func compact() {
        visible.compact()
        history.compact()
    }

    private mutating func draw(_ stroke: Stroke) {
        if fixedSize == nil, let header = stroke.decoded()?.header { fixedSize = BoardSize(firstDraw: header) }
        weight += stroke.weight
        visible.insert(stroke)
        push(.stroke(stroke), by: stroke.author)
    }

    private mutating func undo(_ reference: UInt64) {
        guard let entry = history.takeDone(reference) else { return }
        switch entry {
        case .stroke:
            _ = visible.remove(reference)
            history.pushUndone(entry)
        case .clear(let clear, let removed):
            visible.restore(removed)
            history.pushUndone(.clear(clear, removed: VisibleStrokes()))
        }
    }

    private mutating func redo(_ reference: UInt64) {
        guard let entry = history.takeUndone(reference) else { return }
        let settled: HistoryEntry?
        switch entry {
        case .stroke(let stroke):
            visible.insert(stroke)
            settled = history.pushDone(entry)
        case .clear(let clear, _):
            settled = history.pushDone(.clear(clear, removed: takeVisible()))
        }
        if let settled { forget(settled) }
    }

    private mutating func clear(_ clear: Clear) {
        lastClear = clear.index
        switch history.configuration.clear {
        case .final:
            visible = VisibleStrokes()
            history.empty()
            weight = 0
        case .undoable:
            push(.clear(clear, removed: takeVisible()), by: clear.author)
        }
    }

    private mutating func takeVisible() -> VisibleStrokes {
        defer { visible = VisibleStrokes() }
        return visible
    }

    private mutating func push(_ entry: HistoryEntry, by author: AuthorID) {
        let (settled, lost) = history.push(entry, by: author)
        if let settled { forget(settled) }
        for entry in lost { weight -= entry.hiddenWeight }
    }

    /// A stroke below the undo stack stays on the board; what a clear took away is gone for good.
    private mutating func forget(_ settled: HistoryEntry) {
        if case .clear = settled { weight -= settled.hiddenWeight }
    }
}
