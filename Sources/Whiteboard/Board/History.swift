import DequeModule
import StrokeWire

/// What can be taken back, or done again.
///
/// One reference: a history has a hundred of them.
enum HistoryEntry: Sendable {
    case stroke(Stroke)
    /// An undoable clear, and what it took away while it is done.
    indirect case clear(Clear, removed: VisibleStrokes)

    var index: UInt64 {
        switch self {
        case .stroke(let stroke): stroke.index
        case .clear(let clear, _): clear.index
        }
    }

    /// A clear is everybody's.
    func belongs(to author: AuthorID) -> Bool {
        switch self {
        case .stroke(let stroke): stroke.author == author
        case .clear: true
        }
    }

    /// Weight of the strokes kept alive by this entry alone once it has been taken off the board.
    var hiddenWeight: Int {
        switch self {
        case .stroke(let stroke): stroke.weight
        case .clear(_, let removed): removed.weight
        }
    }
}

/// The undo and the redo stack of a room.
struct History: Sendable {
    let configuration: HistoryConfiguration
    private(set) var done: Deque<HistoryEntry> = []
    private(set) var undone: [HistoryEntry] = []

    init(_ configuration: HistoryConfiguration) {
        self.configuration = configuration
    }

    /// - Parameter done: oldest first; those beyond the depth can no longer be undone.
    init(_ configuration: HistoryConfiguration, done: [HistoryEntry], undone: [HistoryEntry]) {
        self.configuration = configuration
        self.done = Deque(done.suffix(configuration.depth))
        self.undone = undone
    }

    /// Index of the entry that an undo by `author` takes, nil where there is nothing to undo.
    func undoReference(for author: AuthorID) -> UInt64? {
        switch configuration.scope {
        case .room: done.last?.index
        case .author: done.last { $0.belongs(to: author) }?.index
        }
    }

    /// Index of the entry that a redo by `author` takes, nil where there is nothing to redo.
    func redoReference(for author: AuthorID) -> UInt64? {
        switch configuration.scope {
        case .room: undone.last?.index
        case .author: undone.last { $0.belongs(to: author) }?.index
        }
    }

    /// A new entry of `author`, or of everybody, empties the redo stack as the scope has it.
    /// - Returns: what can no longer be undone and what can no longer be done again.
    mutating func push(_ entry: HistoryEntry, by author: AuthorID) -> (settled: HistoryEntry?, lost: [HistoryEntry]) {
        var lost: [HistoryEntry] = []
        if configuration.scope == .room {
            swap(&lost, &undone)
        } else {
            lost = undone.filter { Self.isLost($0, after: entry, by: author) }
            if !lost.isEmpty { undone.removeAll { Self.isLost($0, after: entry, by: author) } }
        }
        return (pushDone(entry), lost)
    }

    private static func isLost(_ undone: HistoryEntry, after entry: HistoryEntry, by author: AuthorID) -> Bool {
        if case .clear = entry { return true }
        return undone.belongs(to: author)
    }

    /// - Returns: the entry that fell off the bottom.
    mutating func pushDone(_ entry: HistoryEntry) -> HistoryEntry? {
        done.append(entry)
        return done.count > configuration.depth ? done.removeFirst() : nil
    }

    mutating func takeDone(_ index: UInt64) -> HistoryEntry? {
        guard let position = done.lastIndex(where: { $0.index == index }) else { return nil }
        return done.remove(at: position)
    }

    mutating func takeUndone(_ index: UInt64) -> HistoryEntry? {
        guard let position = undone.lastIndex(where: { $0.index == index }) else { return nil }
        return undone.remove(at: position)
    }

    mutating func pushUndone(_ entry: HistoryEntry) {
        undone.append(entry)
    }

    /// Gives back memory that was taken for entries to come.
    mutating func compact() {
        // An empty deque would be copied into the one empty array that all threads share.
        done = done.isEmpty ? [] : Deque(Array(done))
        undone = Array(undone[...])
    }

    mutating func empty() {
        done = []
        undone = []
    }
}
