package import StrokeWire
package import Whiteboard

/// A student's copy of a board by the rules as they read: made from a catch-up and the operations after it alone.
package struct ModelStudent {
    package private(set) var index: UInt64 = 0
    package private(set) var visible: [UInt64] = []
    package private(set) var pages = BoardPages()
    /// Messages of all strokes that the student has received.
    package private(set) var ink: [UInt64: [UInt8]] = [:]
    /// What clears and removals took away, and what removals name.
    private var took: [UInt64: [UInt64]] = [:]
    private var names: [UInt64: [UInt64]] = [:]
    /// The page of each stroke.
    private var page: [UInt64: Int] = [:]
    private let clearsAreFinal: Bool

    /// A student who was there from the start.
    package init(_ rules: HistoryConfiguration) { clearsAreFinal = rules.clear == .final }

    /// A student who joins with the board.
    package init(_ rules: HistoryConfiguration, board: Board) {
        self.init(rules)
        index = board.index
        var strokes = Array(board.visible)
        visible = strokes.map(\.index)
        for entry in board.undone {
            switch entry {
            case .stroke(let stroke): strokes.append(stroke)
            case .removal(let removal): (took[removal.index], names[removal.index]) = ([], removal.indices)
            }
        }
        for (removal, removed) in board.undoableRemovals {
            (took[removal.index], names[removal.index]) = (removed.map(\.index), removal.indices)
            strokes += removed
        }
        for stroke in strokes { (ink[stroke.index], page[stroke.index]) = (stroke.message.bytes, stroke.page) }
        pages = board.pages
    }

    package var digest: UInt64 { plainDigest(visible) }

    /// Takes the next operation; repeats are dropped.
    /// - Returns: what cannot be.
    package mutating func take(_ operation: Whiteboard.Operation) -> [String] {
        guard operation.index > index else { return [] }
        var faults = operation.index == index + 1 ? [] : ["a student missed an operation before \(operation.index)"]
        index = operation.index
        let reference = operation.reference ?? 0
        switch operation.effect {
        case .draw(let stroke) where stroke.kind == .pointer: break
        case .draw:
            (ink[index], page[index]) = (operation.restoredMessage, operation.page)
            visible.append(index)
            pages.add(operation.page)
        case .clear: clear(index, on: operation.page)
        case .remove:
            let named = (try? StrokeMessage(decoding: operation.restoredMessage))?.indices ?? []
            if named.isEmpty || !Set(named).isSubset(of: visible) { faults.append("\(index) removes what is not seen") }
            names[index] = named
            clear(index, on: operation.page)
        case .undo:
            if let strokes = took[reference] {
                visible = (visible + strokes).sorted()
            } else {
                if !visible.contains(reference) { faults.append("\(index) takes back a stroke that is not seen") }
                visible.removeAll { $0 == reference }
            }
        case .redo:
            if took[reference] != nil {
                clear(reference, on: operation.page)
            } else {
                if ink[reference] == nil { faults.append("\(index) brings back a stroke that the student never had") }
                visible = (visible + [reference]).sorted()
            }
        case .turn: pages.turn(to: operation.page)
        case .arrange(let order, _): pages.arrange(order)
        case .paper(let paper, let page): pages.lay(paper, under: page)
        }
        return faults
    }

    private mutating func clear(_ clear: UInt64, on page: Int) {
        let named = names[clear]
        let gone = visible.filter { self.page[$0] == page && named?.contains($0) != false }
        if named != nil || !clearsAreFinal { took[clear] = gone }
        visible.removeAll { gone.contains($0) }
    }
}
