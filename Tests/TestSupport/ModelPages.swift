package import Whiteboard

/// A model of a board's pages: a plain board for each, and lists of what is in sight and of what was ever seen.
package struct ModelPages: Sendable {
    private let rules: HistoryConfiguration
    private var boards: [Int: ModelBoard] = [:]
    private var lastClears: [Int: UInt64] = [:]
    /// The page of each stroke.
    package private(set) var pages: [UInt64: Int] = [:]
    package private(set) var shown = 0
    package private(set) var order = [0]
    private var seen: Set<Int> = [0]

    package init(_ rules: HistoryConfiguration = HistoryConfiguration()) {
        self.rules = rules
    }

    /// The visible strokes of all pages.
    package var visible: [UInt64] {
        boards.count == 1 ? boards.values.flatMap(\.visible) : boards.values.flatMap(\.visible).sorted()
    }
    /// What can be done again on the first page, the next one last.
    package var redoStack: [UInt64] { boards[0]?.redoStack.map(\.index) ?? [] }
    package var digest: UInt64 { plainDigest(visible) }
    /// Pages that were seen and are out of sight.
    package var hidden: [Int] { seen.subtracting(order).sorted() }

    package func visible(on page: Int) -> [UInt64] { boards[page]?.visible ?? [] }

    package func page(_ named: Int?) -> Int { named ?? shown }

    package func lastClear(on named: Int?) -> UInt64 { lastClears[page(named)] ?? 0 }

    package mutating func draw(_ index: UInt64, by author: String, on named: Int?) {
        let page = page(named)
        see(page)
        pages[index] = page
        change(page) { $0.draw(index, by: author) }
    }

    package mutating func undo(by author: String, on named: Int?) -> UInt64? {
        change(page(named)) { $0.undo(by: author) }
    }

    package mutating func redo(by author: String, on named: Int?) -> UInt64? {
        change(page(named)) { $0.redo(by: author) }
    }

    package mutating func clear(_ index: UInt64, on named: Int?) {
        lastClears[page(named)] = index
        change(page(named)) { $0.clear(index) }
    }

    /// - Returns: those of the indices that were removed; empty where there is nothing to remove.
    package mutating func remove(_ index: UInt64, _ indices: [UInt64], by author: String, on named: Int?) -> [UInt64] {
        change(page(named)) { $0.remove(index, indices, by: author) }
    }

    package mutating func turn(to page: Int) {
        see(page)
        if !order.contains(page) { order.append(page) }
        shown = page
    }

    package mutating func arrange(_ pages: [Int]) {
        seen.formUnion(pages)
        order = pages
        if !order.contains(shown) { shown = order[0] }
    }

    /// A page that was never seen before comes last.
    package mutating func see(_ page: Int) { if seen.insert(page).inserted { order.append(page) } }

    private mutating func change<Result>(_ page: Int, _ body: (inout ModelBoard) -> Result) -> Result {
        let blank = ModelBoard(rules)
        return body(&boards[page, default: blank])
    }
}
