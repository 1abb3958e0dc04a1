package import Whiteboard

/// A model of the rules of undo, redo and clear: whole lists, digests from scratch.
package struct ModelBoard: Sendable {
    package enum Entry: Equatable, Sendable {
        case stroke(UInt64, author: String)
        /// An undoable clear and the strokes that it removed.
        case clear(UInt64, took: [UInt64])
        /// A removal, those that it names and those of them that it has removed.
        case removal(UInt64, author: String, names: [UInt64], took: [UInt64])

        package var index: UInt64 {
            switch self {
            case .stroke(let index, _), .clear(let index, _), .removal(let index, _, _, _): index
            }
        }

        package func isOf(_ author: String) -> Bool {
            switch self {
            case .stroke(_, let own), .removal(_, let own, _, _): own == author
            case .clear: true
            }
        }

        /// The strokes that it has taken away; nil for a stroke.
        package var took: [UInt64]? {
            switch self {
            case .stroke: nil
            case .clear(_, let took), .removal(_, _, _, let took): took
            }
        }
    }

    package let rules: HistoryConfiguration
    package private(set) var visible: [UInt64] = []
    package private(set) var undoStack: [Entry] = []
    package private(set) var redoStack: [Entry] = []

    /// The greatest weight of all strokes kept, and the weight of each; a clear weighs 8.
    private let weightLimit: Int
    private var weights: [UInt64: Int] = [:]
    private var authors: [UInt64: String] = [:]

    package init(_ rules: HistoryConfiguration, weightLimit: Int = .max) {
        self.rules = rules
        self.weightLimit = weightLimit
    }

    /// The weight of the strokes that are visible or can be restored, and of the clears in the stacks.
    package var weight: Int { weight(of: undoStack) }

    /// The weight that would be left if no clear could be undone.
    package var leastWeight: Int { weight(of: []) }

    private func weight(of undoStack: [Entry]) -> Int {
        var kept = Set(visible)
        for entry in undoStack { kept.formUnion(entry.took ?? []) }
        for case .stroke(let index, _) in redoStack { kept.insert(index) }
        let removals = (undoStack + redoStack).count { $0.took != nil }
        return kept.reduce(8 * removals) { $0 + (weights[$1] ?? 0) }
    }

    package mutating func draw(_ index: UInt64, by author: String, weight: Int = 8) {
        weights[index] = weight
        authors[index] = author
        visible.append(index)
        emptyRedoStack(of: author)
        push(.stroke(index, author: author))
        dropRemovals()
    }

    /// - Returns: those of the indices that were removed; empty where there is nothing to remove.
    package mutating func remove(_ index: UInt64, _ indices: [UInt64], by author: String) -> [UInt64] {
        let names = indices.filter {
            visible.contains($0) && (rules.scope == .room || authors[$0] == author)
        }
        guard !names.isEmpty else { return [] }
        emptyRedoStack(of: author)
        visible.removeAll { names.contains($0) }
        push(.removal(index, author: author, names: names, took: names))
        dropRemovals()
        return names
    }

    private mutating func emptyRedoStack(of author: String) {
        switch rules.scope {
        case .room: redoStack = []
        case .author: redoStack.removeAll { $0.isOf(author) }
        }
    }

    /// - Returns: the entry undone; nil where there is nothing to undo.
    package mutating func undo(by author: String) -> UInt64? {
        let position = rules.scope == .room ? undoStack.indices.last : undoStack.lastIndex { $0.isOf(author) }
        guard let position else { return nil }
        let entry = undoStack.remove(at: position)
        redoStack.append(entry)
        switch entry {
        case .stroke(let index, _): visible.removeAll { $0 == index }
        case .clear(_, let took), .removal(_, _, _, let took): visible = (visible + took).sorted()
        }
        return entry.index
    }

    package mutating func redo(by author: String) -> UInt64? {
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
        case .removal(let index, let author, let names, _):
            push(.removal(index, author: author, names: names, took: visible.filter { names.contains($0) }))
            visible.removeAll { names.contains($0) }
        }
        return entry.index
    }

    package mutating func clear(_ index: UInt64) {
        redoStack = []
        switch rules.clear {
        case .final: undoStack = []
        case .undoable: push(.clear(index, took: visible))
        }
        visible = []
        dropRemovals()
    }

    /// Makes the oldest clears and removals final while the board is over its limit.
    private mutating func dropRemovals() {
        while weightLimit < .max, weight > weightLimit, let position = undoStack.firstIndex(where: { $0.took != nil }) {
            undoStack.removeFirst(position + 1)
        }
    }

    private mutating func push(_ entry: Entry) {
        undoStack.append(entry)
        if undoStack.count > rules.depth { undoStack.removeFirst() }
    }

    /// The digest as subjects.md has it.
    package var digest: UInt64 { plainDigest(visible) }
}

/// The digest of a board as the protocol has it: the sum modulo 2^64, over the visible strokes, of SplitMix64 of their
/// indices.
package func plainDigest(_ indices: [UInt64]) -> UInt64 {
    var sum: UInt64 = 0
    for index in indices {
        var z = index &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        sum = sum &+ (z ^ (z >> 31))
    }
    return sum
}

/// ``plainDigest(_:)`` as 16 hexadecimal digits, as it is sent.
package func plainDigestText(_ indices: [UInt64]) -> String { digestText(plainDigest(indices)) }

/// A digest as 16 hexadecimal digits.
package func digestText(_ digest: UInt64) -> String {
    let digits = String(digest, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
