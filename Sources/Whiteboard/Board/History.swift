import StrokeWire

/// An operation that can be undone or redone.
///
/// One reference: a history has a hundred entries.
enum HistoryEntry: Sendable {
    case stroke(Stroke)
    /// A removal or an undoable clear and, unless it is undone, the strokes that it removed and their weight.
    indirect case removal(Removal, removed: VisibleStrokes, weight: Weight)

    var index: UInt64 {
        switch self {
        case .stroke(let stroke): stroke.index
        case .removal(let removal, _, _): removal.index
        }
    }

    /// Whether the entry counts as the author's. A clear counts as everybody's.
    func belongs(to author: AuthorID) -> Bool {
        switch self {
        case .stroke(let stroke): stroke.author == author
        case .removal(let removal, _, _): removal.isClear || removal.author == author
        }
    }

    /// Whether it is a removal or a clear.
    var isRemoval: Bool {
        if case .removal = self { true } else { false }
    }

    var isClear: Bool {
        if case .removal(let removal, _, _) = self { removal.isClear } else { false }
    }

    /// The entry with the same strokes in other blocks.
    func moved(_ moves: StrokeMoves) -> HistoryEntry {
        switch self {
        case .stroke(let stroke): return .stroke(moves[stroke])
        case .removal(let removal, var removed, let weight):
            removed.move(moves)
            return .removal(removal, removed: removed, weight: weight)
        }
    }

    /// Weight of what only this entry keeps in memory when it is not visible.
    var hiddenWeight: Weight {
        switch self {
        case .stroke(let stroke): stroke.weight
        case .removal(let removal, _, let weight): removal.weight + weight
        }
    }
}

/// The undo stack and the redo stack of a room.
struct History: Sendable {
    let configuration: HistoryConfiguration
    /// The undo stack, its top last. No Deque: Embedded Swift 6.3 frees one with references as another type.
    private(set) var done: [HistoryEntry] = []
    /// The redo stack, its top last.
    private(set) var undone: [HistoryEntry] = []

    init(_ configuration: HistoryConfiguration) { self.configuration = configuration }

    /// A history restored from a checkpoint.
    /// - Parameter done: oldest first; those beyond the depth are dropped.
    init(_ configuration: HistoryConfiguration, done: [HistoryEntry], undone: [HistoryEntry]) {
        self.configuration = configuration
        self.done = Array(done.suffix(configuration.depth))
        self.undone = undone
    }

    /// Index of the entry that `author` would undo; nil where there is none.
    func undoReference(for author: AuthorID) -> UInt64? { newest(of: done, for: author) }

    /// Index of the entry that `author` would redo; nil where there is none.
    func redoReference(for author: AuthorID) -> UInt64? { newest(of: undone, for: author) }

    private func newest(of stack: [HistoryEntry], for author: AuthorID) -> UInt64? {
        switch configuration.scope {
        case .room: stack.last?.index
        case .author: stack.last { $0.belongs(to: author) }?.index
        }
    }

    /// Pushes a new entry and empties the redo stack within the configured scope.
    /// - Returns: the entry that can no longer be undone, and those that can no longer be redone.
    mutating func push(_ entry: HistoryEntry, by author: AuthorID) -> (dropped: HistoryEntry?, lost: [HistoryEntry]) {
        var lost: [HistoryEntry] = []
        if configuration.isFollowed, !entry.isClear {
            // The service knows whose entries are lost with it.
        } else if configuration.scope == .room {
            swap(&lost, &undone)
        } else {
            lost = undone.filter { Self.isLost($0, after: entry, by: author) }
            if !lost.isEmpty { undone.removeAll { Self.isLost($0, after: entry, by: author) } }
        }
        return (pushDone(entry), lost)
    }

    private static func isLost(_ undone: HistoryEntry, after entry: HistoryEntry, by author: AuthorID) -> Bool {
        entry.isClear || undone.belongs(to: author)
    }

    /// Pushes an entry on the undo stack.
    /// - Returns: the entry that fell off the bottom; nil for none.
    mutating func pushDone(_ entry: HistoryEntry) -> HistoryEntry? {
        // The strokes that an undo may name are found among the visible ones.
        if configuration.isFollowed, !entry.isRemoval { return nil }
        done.append(entry)
        return done.count > configuration.depth ? done.removeFirst() : nil
    }

    /// Makes the oldest entry of the undo stack permanent.
    /// - Returns: the entry; nil where there is none.
    mutating func dropOldest() -> HistoryEntry? { done.isEmpty ? nil : done.removeFirst() }

    /// Index of the oldest removal or clear that can be undone; nil where there is none.
    var oldestRemoval: UInt64? { done.first { $0.isRemoval }?.index }

    /// Makes the oldest removal or undoable clear final, and the strokes below it permanent.
    /// - Returns: the removal; nil where there is none.
    mutating func dropOldestRemoval() -> HistoryEntry? {
        guard let position = done.firstIndex(where: { $0.isRemoval }) else { return nil }
        defer { done.removeFirst(position + 1) }
        return done[position]
    }

    mutating func takeDone(_ index: UInt64) -> HistoryEntry? {
        done.lastIndex { $0.index == index }.map { done.remove(at: $0) }
    }

    mutating func takeUndone(_ index: UInt64) -> HistoryEntry? {
        undone.lastIndex { $0.index == index }.map { undone.remove(at: $0) }
    }

    mutating func pushUndone(_ entry: HistoryEntry) { undone.append(entry) }

    /// Forgets the oldest entry of a follower's redo stack where it has too many.
    mutating func takeExcessUndone() -> HistoryEntry? {
        configuration.isFollowed && undone.count > configuration.depth ? undone.removeFirst() : nil
    }

    /// Replaces strokes by the same ones in other blocks.
    mutating func move(_ moves: StrokeMoves) {
        done = done.map { $0.moved(moves) }
        undone = undone.map { $0.moved(moves) }
    }

    /// Frees memory reserved for more entries.
    mutating func compact() {
        done = Array(done[...])
        undone = Array(undone[...])
    }
}
