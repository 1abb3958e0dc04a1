import Whiteboard

/// The rules of undo, redo and clear, written as plainly as they read. Clears are final here.
struct PlainBoard {
    let rules: HistoryConfiguration
    private(set) var visible: [UInt64] = []
    private var done: [(index: UInt64, author: String)] = []
    private var undone: [(index: UInt64, author: String)] = []

    init(_ rules: HistoryConfiguration) {
        self.rules = rules
    }

    mutating func draw(_ index: UInt64, by author: String) {
        visible.append(index)
        undone.removeAll { rules.scope == .room || $0.author == author }
        push((index, author))
    }

    /// - Returns: what leaves the board, nil where there is nothing to undo.
    mutating func undo(by author: String) -> UInt64? {
        guard let position = done.lastIndex(where: { rules.scope == .room || $0.author == author }) else { return nil }
        let entry = done.remove(at: position)
        undone.append(entry)
        visible.removeAll { $0 == entry.index }
        return entry.index
    }

    /// - Returns: what comes back, nil where there is nothing to redo.
    mutating func redo(by author: String) -> UInt64? {
        guard let position = undone.lastIndex(where: { rules.scope == .room || $0.author == author }) else {
            return nil
        }
        let entry = undone.remove(at: position)
        visible = (visible + [entry.index]).sorted()
        push(entry)
        return entry.index
    }

    mutating func clear() {
        (visible, done, undone) = ([], [], [])
    }

    private mutating func push(_ entry: (index: UInt64, author: String)) {
        done.append(entry)
        if done.count > rules.depth { done.removeFirst() }
    }
}
