import TestSupport
import Whiteboard

/// The rules of undo, redo and clear, written as plainly as they read: whole lists, digests from scratch.
struct PlainBoard {
    enum Entry: Equatable {
        case stroke(UInt64, author: String)
        /// An undoable clear and what it took away.
        case clear(UInt64, took: [UInt64])

        var index: UInt64 {
            switch self {
            case .stroke(let index, _), .clear(let index, _): index
            }
        }

        func isOf(_ author: String) -> Bool {
            if case .stroke(_, let own) = self { own == author } else { true }
        }
    }

    let rules: HistoryConfiguration
    private(set) var visible: [UInt64] = []
    private(set) var undoStack: [Entry] = []
    private(set) var redoStack: [Entry] = []

    init(_ rules: HistoryConfiguration) {
        self.rules = rules
    }

    mutating func draw(_ index: UInt64, by author: String) {
        visible.append(index)
        switch rules.scope {
        case .room: redoStack = []
        case .author: redoStack.removeAll { $0.isOf(author) }
        }
        push(.stroke(index, author: author))
    }

    /// - Returns: what leaves the board or returns, nil where there is nothing to undo.
    mutating func undo(by author: String) -> UInt64? {
        let position = rules.scope == .room ? undoStack.indices.last : undoStack.lastIndex { $0.isOf(author) }
        guard let position else { return nil }
        let entry = undoStack.remove(at: position)
        redoStack.append(entry)
        switch entry {
        case .stroke(let index, _): visible.removeAll { $0 == index }
        case .clear(_, let took): visible = (visible + took).sorted()
        }
        return entry.index
    }

    mutating func redo(by author: String) -> UInt64? {
        let position = rules.scope == .room ? redoStack.indices.last : redoStack.lastIndex { $0.isOf(author) }
        guard let position else { return nil }
        let entry = redoStack.remove(at: position)
        switch entry {
        case .stroke(let index, _):
            visible = (visible + [index]).sorted()
            push(entry)
        case .clear(let index, _):
            push(.clear(index, took: visible))
            visible = []
        }
        return entry.index
    }

    mutating func clear(_ index: UInt64) {
        redoStack = []
        switch rules.clear {
        case .final: undoStack = []
        case .undoable: push(.clear(index, took: visible))
        }
        visible = []
    }

    private mutating func push(_ entry: Entry) {
        undoStack.append(entry)
        if undoStack.count > rules.depth { undoStack.removeFirst() }
    }

    /// The digest as subjects.md has it.
    var digest: UInt64 { plainDigest(visible) }
}
