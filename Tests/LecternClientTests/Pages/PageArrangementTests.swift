import StrokeWire
import TestSupport
import Testing

@testable import LecternClient

/// Changes of the order of pages while others change it, on a log in memory.
@Suite struct PageArrangementTests {
    /// A room's log with its pages, and the pages as they would be if a change only did what it is for.
    private struct Log {
        private(set) var pages: BoardPages
        private(set) var ideal: BoardPages
        private(set) var operations: [ReleasedOperation] = []
        private let author = AuthorID("anna")!

        init(_ pages: BoardPages) {
            (self.pages, ideal) = (pages, pages)
        }

        var index: UInt64 { UInt64(operations.count) }

        /// What others write.
        mutating func write(_ action: Action, page: Int = 0, order: [Int]? = nil) {
            apply(action, page, order, to: &pages)
            apply(action, page, order, to: &ideal)
            append(action, page, order)
        }

        /// The order that a change publishes.
        mutating func publish(_ order: [Int], adding added: [Int], hiding hidden: Set<Int>) -> UInt64 {
            let known = Set(ideal.order + ideal.hidden)
            let own = added.filter { !known.contains($0) }
            ideal.arrange(ideal.order.filter { !hidden.contains($0) } + own)
            pages.arrange(order)
            append(.arrange, pages.shown, order)
            return index
        }

        /// The turn of a change to a page that it hid by mistake.
        mutating func show(_ page: Int) {
            pages.turn(to: page)
            append(.turn, page, nil)
        }

        private mutating func append(_ action: Action, _ page: Int, _ order: [Int]?) {
            operations.append(
                ReleasedOperation(
                    index: index + 1, author: author, page: page, action: action, order: order, bytes: []))
        }

        private func apply(_ action: Action, _ page: Int, _ order: [Int]?, to pages: inout BoardPages) {
            switch action {
            case .draw: pages.add(page)
            case .turn: pages.turn(to: page)
            case .arrange: pages.arrange(order ?? [])
            case .paper: pages.add(page)
            case .undo, .redo, .clear, .remove: break
            }
        }

        func after(_ index: UInt64) -> [ReleasedOperation] { Array(operations.dropFirst(Int(index))) }
    }

    @Test func `pages get the lowest numbers that have never been, hidden ones spared`() throws {
        let pages = try #require(BoardPages(shown: 0, order: [3, 0], hidden: [1]))
        var change = PageArrangement(.add(3), state: pages, index: 7)
        let order = change.nextOrder()
        #expect(order == [3, 0, 2, 4, 5])
        let isRight = change.applied([3, 0, 2, 4, 5], at: 8, among: [])
        #expect(isRight)
        #expect(change.added == [2, 4, 5])
    }

    @Test func `numbers that run out, and a last page, end a change`() throws {
        let full = try #require(BoardPages(shown: 0, order: Array(0..<999)))
        func lastOfOrder(_ goal: PageArrangement.Goal, _ state: BoardPages) -> Int? {
            var change = PageArrangement(goal, state: state, index: 1)
            return change.nextOrder()?.last
        }
        #expect(lastOfOrder(.add(2), full) == nil)
        #expect(lastOfOrder(.add(1), full) == 999)
        #expect(lastOfOrder(.hide([0]), BoardPages()) == nil)
    }

    @Test func `a number that another takes first is exchanged, and what was hidden by mistake comes back`() {
        var log = Log(BoardPages())
        var change = PageArrangement(.add(2), state: log.pages, index: log.index)
        let order = change.nextOrder() ?? []
        #expect(order == [0, 1, 2])
        log.write(.turn, page: 1)
        log.write(.draw, page: 5)
        let isRight = change.applied(order, at: log.publish(order, adding: [1, 2], hiding: []), among: log.after(0))
        #expect(!isRight)
        #expect(change.pageToShow == nil)
        let next = change.nextOrder()
        #expect(next == [0, 1, 5, 2, 3])
    }

    @Test func `new pages are nobody else's and no page is lost, whatever others write meanwhile`() {
        for seed in TestSeed.choose(300) { play(seed) }
    }

    private func play(_ seed: UInt64) {
        var random = TestSupport.SeededGenerator(seed: seed)
        var log = Log(BoardPages())
        func disturb() {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let page = Int.random(in: 0...9, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: log.write(.draw, page: page)
                case 1: log.write(.turn, page: page)
                default: log.write(.arrange, order: log.pages.order.shuffled(using: &random))
                }
            }
        }
        disturb()
        let hidden: Set<Int> = Bool.random(using: &random) ? [log.pages.order[0]] : []
        let goal = hidden.isEmpty ? PageArrangement.Goal.add(3) : .hide(hidden)
        var change = PageArrangement(goal, state: log.pages, index: log.index)
        for attempt in 0..<20 {
            // The first attempts are disturbed.
            if attempt < 4 { disturb() }
            guard let order = change.nextOrder() else {
                // All others are hidden.
                return
            }
            if order == change.state.order { break }
            let position = log.publish(order, adding: change.added, hiding: hidden)
            if attempt < 4, Bool.random(using: &random) { disturb() }
            let known = log.index
            let isRight = change.applied(order, at: position, among: log.after(change.index))
            #expect(change.index == max(position, known))
            if let page = change.pageToShow { log.show(page) }
            if isRight { break }
        }
        // New pages go to the end again where others have moved them.
        #expect(Set(log.pages.order) == Set(log.ideal.order), "seed \(seed)")
        #expect(log.pages.shown == log.ideal.shown, "seed \(seed)")
        guard hidden.isEmpty else { return }
        #expect(change.added.count == 3)
        for page in change.added {
            // Nobody named it before the change did.
            let first = log.operations.first {
                $0.page == page && $0.action != .arrange || $0.order?.contains(page) ?? false
            }
            #expect(first?.action == .arrange && first?.order?.contains(page) == true, "seed \(seed)")
        }
    }
}
