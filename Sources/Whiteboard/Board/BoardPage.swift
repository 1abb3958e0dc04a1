import DequeModule
import StrokeWire

/// A page of a board: what is visible on it, and its undo and redo stacks.
struct BoardPage: Sendable {
    /// 0 … 999.
    let number: Int
    /// Bottom to top.
    private(set) var visible = VisibleStrokes()
    private(set) var history: History
    /// Of its strokes and clears.
    private(set) var weight = BoardWeight()
    /// Images that came, and that are gone for good, since the board has taken them into its table.
    private var imageChanges: [ImageTable.Change] = []

    init(number: Int, history: History, visible: VisibleStrokes = VisibleStrokes()) {
        (self.number, self.history, self.visible) = (number, history, visible)
        weight.visible = visible.reduce(.zero) { $0 + $1.weight }
        for entry in history.undone { weight.undone += entry.hiddenWeight }
        for entry in history.done where entry.isRemoval { weight.removed += entry.hiddenWeight }
        imageChanges = images.map(ImageTable.Change.came)
    }

    /// The images among its strokes, each once.
    private var images: [Stroke] {
        guard weight.total.images > 0 else { return [] }
        var images = visible.filter { $0.kind == .image }
        for case .stroke(let stroke) in history.undone where stroke.kind == .image { images.append(stroke) }
        for case .removal(_, let removed, _) in history.done { images += removed.filter { $0.kind == .image } }
        return images
    }

    /// Index of its oldest operation that can be undone; the greatest number where there is none.
    fileprivate var oldestUndoable: UInt64 { history.done.first?.index ?? .max }

    mutating func takeImageChanges() -> [ImageTable.Change] {
        guard !imageChanges.isEmpty else { return [] }
        defer { imageChanges = [] }
        return imageChanges
    }

    /// Every stroke that is visible or could be brought back; some more than once.
    var strokes: [Stroke] {
        var strokes = Array(visible)
        for entry in history.done + history.undone {
            switch entry {
            case .stroke(let stroke): strokes.append(stroke)
            case .removal(_, let removed, _): strokes += removed
            }
        }
        return strokes
    }

    /// Frees memory reserved for more strokes.
    mutating func compact() {
        visible.compact()
        history.compact()
    }

    /// Replaces the strokes by the same ones in other blocks.
    mutating func move(_ moves: StrokeMoves) {
        visible.move(moves)
        history.move(moves)
    }

    /// A value, as a function that takes closures is compiled once for each of them.
    enum Change {
        case draw(Stroke)
        case undo(UInt64)
        case redo(UInt64)
        case clear(Removal)
        case remove(Removal)
        case dropOldest, dropOldestRemoval
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .draw(let stroke): draw(stroke)
        case .undo(let reference): undo(reference)
        case .redo(let reference): redo(reference)
        case .clear(let removal): clear(removal)
        case .remove(let removal): push(removeVisible(removal), by: removal.author)
        case .dropOldest: if let dropped = history.dropOldest() { forget(dropped) }
        case .dropOldestRemoval: if let dropped = history.dropOldestRemoval() { forget(dropped) }
        }
    }

    private mutating func draw(_ stroke: Stroke) {
        weight.visible += stroke.weight
        visible.insert(stroke)
        if stroke.kind == .image { imageChanges.append(.came(stroke)) }
        push(.stroke(stroke), by: stroke.author)
    }

    private mutating func undo(_ reference: UInt64) {
        guard let entry = history.takeDone(reference) ?? followedEntry(reference) else { return }
        switch entry {
        case .stroke(let stroke):
            visible.remove(stroke)
            weight.visible -= stroke.weight
            pushUndone(entry)
        case .removal(let removal, let removed, let removedWeight):
            visible.formUnion(removed)
            weight.visible += removedWeight
            weight.removed -= entry.hiddenWeight
            pushUndone(.removal(removal, removed: VisibleStrokes(), weight: .zero))
        }
    }

    /// A visible stroke that a service may name though no stack has it.
    private func followedEntry(_ reference: UInt64) -> HistoryEntry? {
        guard history.configuration.isFollowed, let stroke = visible.stroke(at: reference) else { return nil }
        return .stroke(stroke)
    }

    private mutating func pushUndone(_ entry: HistoryEntry) {
        weight.undone += entry.hiddenWeight
        history.pushUndone(entry)
        if let lost = history.takeExcessUndone() { lose(lost) }
    }

    /// Notes that an entry can no longer be redone.
    private mutating func lose(_ entry: HistoryEntry) {
        weight.undone -= entry.hiddenWeight
        if case .stroke(let stroke) = entry, stroke.kind == .image { imageChanges.append(.went(stroke)) }
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
        case .removal(let removal, _, _):
            dropped = history.pushDone(removeVisible(removal))
        }
        if let dropped { forget(dropped) }
    }

    private mutating func clear(_ clear: Removal) {
        switch history.configuration.clear {
        case .final:
            imageChanges += images.map(ImageTable.Change.went)
            visible = VisibleStrokes()
            history = History(history.configuration)
            weight = BoardWeight()
        case .undoable:
            push(removeVisible(clear), by: clear.author)
        }
    }

    /// Removes the visible strokes that a removal names, or all for a clear.
    /// - Returns: the history entry that can restore them.
    private mutating func removeVisible(_ removal: Removal) -> HistoryEntry {
        let entry: HistoryEntry
        if let indices = removal.indices {
            let removed = visible.remove(indices)
            let removedWeight = removed.reduce(.zero) { $0 + $1.weight }
            entry = .removal(removal, removed: removed, weight: removedWeight)
            weight.visible -= removedWeight
        } else {
            entry = .removal(removal, removed: visible, weight: weight.visible)
            visible = VisibleStrokes()
            weight.visible = .zero
        }
        weight.removed += entry.hiddenWeight
        return entry
    }

    private mutating func push(_ entry: HistoryEntry, by author: AuthorID) {
        let (dropped, lost) = history.push(entry, by: author)
        if let dropped { forget(dropped) }
        for entry in lost { lose(entry) }
    }

    /// Notes that an entry can no longer be undone: a stroke stays on the board, what a removal took is gone for good.
    private mutating func forget(_ dropped: HistoryEntry) {
        guard case .removal(_, let removed, let removedWeight) = dropped else { return }
        weight.removed -= dropped.hiddenWeight
        guard removedWeight.images > 0 else { return }
        for stroke in removed where stroke.kind == .image { imageChanges.append(.went(stroke)) }
    }
}

/// The pages of a board by their numbers. Page 0 lies inline: most boards have no other.
struct PageTable: Sendable {
    private(set) var first: BoardPage
    /// In the order of their numbers.
    private(set) var others: [BoardPage]
    /// Of each of the others the index of its oldest undoable operation; the greatest number where it has none. A list of
    /// its own: looking through the pages would copy each.
    private var oldest: [UInt64]

    init(first: BoardPage, others: [BoardPage] = []) {
        (self.first, self.others) = (first, others)
        oldest = others.map { $0.oldestUndoable }
    }

    /// The number of the page with the oldest operation that can be undone.
    var pageWithOldest: Int {
        guard let place = oldest.indices.min(by: { oldest[$0] < oldest[$1] }) else { return 0 }
        return oldest[place] < first.oldestUndoable ? others[place].number : 0
    }

    /// nil for a page on which nothing was drawn.
    subscript(number: Int) -> BoardPage? {
        if number == 0 { return first }
        let place = place(of: number)
        return place < others.count && others[place].number == number ? others[place] : nil
    }

    /// Changes a page in place; makes it where it is not there.
    mutating func change(_ number: Int, _ body: (inout BoardPage) -> Void) {
        guard number != 0 else { return body(&first) }
        let place = place(of: number)
        if place == others.count || others[place].number != number {
            others.insert(BoardPage(number: number, history: History(first.history.configuration)), at: place)
            oldest.insert(.max, at: place)
        }
        body(&others[place])
        oldest[place] = others[place].oldestUndoable
    }

    mutating func changeAll(_ body: (inout BoardPage) -> Void) {
        body(&first)
        for place in others.indices { body(&others[place]) }
    }

    private func place(of number: Int) -> Int { others.partitioningIndex { $0.number >= number } }
}

extension PageTable: Sequence {
    func makeIterator() -> some IteratorProtocol<BoardPage> {
        var next = -1
        return AnyIterator {
            defer { next += 1 }
            if next < 0 { return first }
            return next < others.count ? others[next] : nil
        }
    }
}

/// The last clear of each page: what is judged by it must not copy the board.
public struct LastClears: Sendable, Equatable {
    private var first: UInt64 = 0
    private var others: [Int: UInt64] = [:]

    /// Index of the last clear of a page, 0 for none.
    public internal(set) subscript(page: Int) -> UInt64 {
        get { page == 0 ? first : others[page] ?? 0 }
        set { if page == 0 { first = newValue } else { others[page] = newValue } }
    }

    /// The pages that were cleared, in the order of their numbers.
    var pages: [Int] { (first > 0 ? [0] : []) + others.keys.sorted() }
}
