import TestSupport

/// Two stacks and what is seen, over the indices of strokes alone (wire.md, "Undo, redo, clear"; scope room, a clear is
/// final).
struct ModelBoard {
    static let depth = 100

    private(set) var visible: Set<UInt64> = []
    private var undo: [UInt64] = []
    private var redo: [UInt64] = []

    mutating func draw(_ index: UInt64) {
        visible.insert(index)
        push(index)
        redo = []
    }

    /// - Returns: the stroke that leaves, nil where there is none.
    mutating func undoLast() -> UInt64? {
        guard let stroke = undo.popLast() else { return nil }
        visible.remove(stroke)
        redo.append(stroke)
        return stroke
    }

    /// - Returns: the stroke that returns, nil where there is none.
    mutating func redoLast() -> UInt64? {
        guard let stroke = redo.popLast() else { return nil }
        visible.insert(stroke)
        push(stroke)
        return stroke
    }

    mutating func clear() {
        self = ModelBoard()
    }

    private mutating func push(_ stroke: UInt64) {
        undo.append(stroke)
        if undo.count > Self.depth { undo.removeFirst() }
    }

    /// As 16 hexadecimal digits (subjects.md, "A released operation").
    var digest: String {
        let digits = String(plainDigest(visible.sorted()), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
