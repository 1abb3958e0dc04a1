import ClientCore
import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// That of all tests, not the one of lessons with faults.
typealias SeededGenerator = TestSupport.SeededGenerator

@Suite struct `A student's board` {
    /// What of a board has to be the same.
    private func expectSame(_ board: StudentBoard, _ room: RandomRoom, _ place: Comment) {
        let head = room.room.head
        #expect(board.index == head.index, place)
        #expect(board.digest == head.digest, place)
        #expect(board.pages == head.pages, place)
        #expect(board.size == head.size, place)
        #expect(board.visibleCount == head.visibleCount, place)
        #expect(board.digest.value == plainDigest(board.visible.map(\.index)), place)
        for page in 0...4 {
            let (own, other) = (board.visible(on: page), head.visible(on: page))
            #expect(own.map(\.index) == other.map(\.index), place)
            let isSame = zip(own, other).allSatisfy {
                $0.message.bytes == $1.message.bytes && $0.author == $1.author && $0.page == $1.page
                    && $0.kind == $1.kind && $0.isLate == $1.isLate
            }
            #expect(isSame, place)
        }
    }

    @Test(arguments: TestSeed.choose(12))
    func `is the room's after each operation of a random class, whatever its rules`(seed: UInt64) throws {
        var room = RandomRoom(RandomRoom.history(seed), seed: seed)
        var board = StudentBoard()
        var seen: [Int: Set<UInt64>] = [:]
        for step in 0..<1500 {
            room.act()
            while board.index < room.room.head.index {
                let (size, pages) = (board.size, board.pages)
                let change = try board.apply(room.operations[Int(board.index)])
                // What changed is what came and went, no more and no less.
                for stroke in change.hidden { #expect(seen[change.page]?.remove(stroke.index) != nil, "seed \(seed)") }
                for stroke in change.shown {
                    #expect(seen[change.page, default: []].insert(stroke.index).inserted, "seed \(seed)")
                }
                #expect(change.isResized == (board.size != size) && change.hasOtherPages == (board.pages != pages))
                #expect(Set(board.visible(on: change.page).map(\.index)) == seen[change.page] ?? [], "seed \(seed)")
            }
            if step.isMultiple(of: 97) { expectSame(board, room, "seed \(seed), step \(step)") }
        }
        #expect(board.index > 500)
        expectSame(board, room, "seed \(seed)")
    }

    @Test(arguments: TestSeed.choose(8)) func `goes on from a join in either form at any place`(seed: UInt64) throws {
        var room = RandomRoom(RandomRoom.history(seed), seed: seed)
        var boards: [StudentBoard] = []
        for step in 0..<600 {
            room.act()
            for place in boards.indices where boards[place].index < room.room.head.index {
                try boards[place].apply(room.operations[Int(room.room.head.index) - 1])
            }
            guard step.isMultiple(of: 61) else { continue }
            boards.append(try StudentBoard(try room.reply(.json)))
            boards.append(try StudentBoard(try room.reply(.binary)))
        }
        #expect(boards.count > 12)
        for board in boards { expectSame(board, room, "seed \(seed)") }
    }

    @Test func `keeps an undo in mind that names a stroke far below the depth of the history`() throws {
        // A redo brings the lowest stroke to the top of its author's undo stack.
        var board = StudentBoard()
        try board.apply(#"{"n":0,"d":[{"x":1,"y":1}]}"#)
        try board.apply(#"{"n":1,"a":2}"#, 1)
        for number in 3...1500 { try board.apply(#"{"n":\#(number),"d":[{"x":1,"y":1}]}"#) }
        for text in [#"{"n":1,"a":3}"#, #"{"n":2,"a":2}"#] { try board.apply(text, 1) }
        #expect(board.visible.map(\.index) == (3...1500).map { UInt64($0) })
        #expect(board.undoneCount(on: 0) == 1 && board.undoneCount(on: 1) == 0)
    }

    @Test func `tells which entries of a page are an author's, as far as they are visible`() throws {
        var board = StudentBoard()
        let (ann, bob) = (try #require(AuthorID("ann")), try #require(AuthorID("bob")))
        for author in [ann, bob, ann] { try board.apply(#"{"n":1,"d":[{"x":1,"y":1}]}"#, by: author) }
        #expect(board.entries([1, 2, 3, 4], of: ann, on: 0) == [1, 3])
        #expect(board.entries([3, 2], of: bob, on: 0) == [2])
        #expect(board.entries([1], of: ann, on: 1).isEmpty)
        try board.apply(#"{"n":1,"a":2}"#, 3, by: ann)
        #expect(board.entries([1, 2, 3], of: ann, on: 0) == [1])
    }

    @Test func `counts what could be brought back, and forgets the oldest beyond 1,024`() throws {
        var board = StudentBoard()
        for _ in 1...1100 { try board.apply("{\"n\":1,\"d\":[{\"x\":1,\"y\":1}]}") }
        for reference in (1...1100).reversed() { try board.apply("{\"n\":1,\"a\":2}", UInt64(reference)) }
        #expect(board.undoneCount(on: 0) == 1024 && board.visible.isEmpty)
        #expect(throws: StudentBoard.Divergence.self) { try board.apply("{\"n\":1,\"a\":3}", 1100) }
        try board.apply("{\"n\":1,\"a\":3}", 1)
        #expect(board.visible.map(\.index) == [1] && !board.isCleared(on: 0))
        try board.apply("{\"n\":1,\"a\":4}")
        #expect(board.undoneCount(on: 0) == 0 && board.isCleared(on: 0) && !board.isCleared(on: 1))
    }
}

extension StudentBoard {
    /// Applies a message as the next operation.
    fileprivate mutating func apply(_ text: String, _ reference: UInt64? = nil, by author: AuthorID? = nil) throws {
        let author = try #require(author ?? AuthorID("ann"))
        let message = try StrokeMessage(decoding: Array(text.utf8))
        try apply(
            ReleasedOperation(
                index: index + 1, author: author, reference: reference, action: message.action,
                bytes: Array(text.utf8)))
    }
}

@Suite struct `A student's board, whatever a service sends` {
    private func strange(_ random: inout SeededGenerator, _ index: UInt64) -> UInt64 {
        random.pick([index, index, index, 0, 1, index &+ 1, index / 2, .max, .max - 1, 1 << 31, 1 << 32, 1 << 53])
    }

    @Test(arguments: TestSeed.choose(10)) func `refuses wrong operations and stays as it was`(seed: UInt64) throws {
        var room = RandomRoom(RandomRoom.history(seed), seed: seed)
        for _ in 0..<200 { room.act() }
        var board = try StudentBoard(try room.reply(.json))
        var random = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<3000 {
            let sample = random.pick(room.operations)
            var bytes = sample.bytes
            if random.chance(1, in: 2) {
                for _ in 0..<random.int(1...3) { bytes[random.int(0..<bytes.count)] = UInt8(random.int(0...255)) }
            }
            let operation = ReleasedOperation(
                index: strange(&random, board.index &+ 1), author: sample.author,
                reference: random.chance(1, in: 2) ? strange(&random, board.index) : nil,
                page: random.pick([0, 1, 2, 999, 1000, -1, .max, .min]), action: sample.action, bytes: bytes)
            let (index, digest) = (board.index, board.digest)
            do throws(StudentBoard.Divergence) {
                try board.apply(operation)
            } catch {
                refused += 1
                #expect(board.index == index && board.digest == digest, "seed \(seed)")
            }
            #expect(board.digest.value == plainDigest(board.visible.map(\.index)), "seed \(seed)")
        }
        #expect(refused > 500)
    }

    @Test(arguments: TestSeed.choose(10)) func `refuses replies that contradict themselves`(seed: UInt64) throws {
        var room = RandomRoom(RandomRoom.history(seed), seed: seed)
        for _ in 0..<120 { room.act() }
        let reply = try room.reply(.json)
        guard case .board(let width, let height, let visible, let redo, let cleared) = reply.content else {
            throw Unexpected("no board")
        }
        var random = SeededGenerator(seed: seed)
        func alter(_ list: [JoinedOperation]) -> [JoinedOperation] {
            var list = list
            for _ in 0..<random.int(0...2) where !list.isEmpty {
                let place = random.int(0..<list.count)
                switch random.int(0...5) {
                case 0: list[place].index = strange(&random, list[place].index)
                case 1: list[place].page = random.pick([0, 1, 7, 999, 1000, -3, .max])
                case 2: list[place].message = random.pick(room.operations).bytes[...]
                case 3: list.append(list[place])
                case 4: list[place].message = []
                default: list.remove(at: place)
                }
            }
            return list
        }
        var accepted = 0
        for _ in 0..<1500 {
            var other = reply
            if random.chance(1, in: 3) { other.index = strange(&random, reply.index) }
            let sizes: [Double] = [width, 0, -1, .nan, .infinity, 1e300]
            var lists = (visible, redo)
            var clears = cleared
            switch random.int(0...3) {
            case 0: lists.0 = alter(visible)
            case 1: lists.1 = alter(redo)
            case 2:
                for place in clears.indices { clears[place].visible = alter(clears[place].visible) }
                if !clears.isEmpty { clears[0].page = random.pick([0, 1, 1000, -1]) }
            default: break
            }
            other.content = .board(
                width: random.pick(sizes), height: height, visible: lists.0, redo: lists.1, cleared: clears)
            guard var board = try? StudentBoard(other) else { continue }
            accepted += 1
            // It can be used, too.
            for operation in room.operations.suffix(3) {
                let next = ReleasedOperation(
                    index: board.index &+ 1, author: operation.author, reference: operation.reference,
                    page: operation.page, action: operation.action, order: operation.order, bytes: operation.bytes)
                _ = try? board.apply(next)
            }
        }
        #expect(accepted > 0 && accepted < 1500)
    }

    @Test func `has a bound of its weight, below which a stroke and a join are refused`() throws {
        var board = StudentBoard(weightLimit: 100)
        let author = try #require(AuthorID("ann"))
        let message = Array("{\"n\":1,\"d\":[{\"x\":1,\"y\":1}]}".utf8)
        func draw(_ index: UInt64) -> ReleasedOperation {
            ReleasedOperation(index: index, author: author, action: .draw, bytes: message)
        }
        for index in 1...12 as ClosedRange<UInt64> { try board.apply(draw(index)) }
        #expect(throws: StudentBoard.Divergence.self) { try board.apply(draw(13)) }
        #expect(board.index == 12)
        var room = RandomRoom(RandomRoom.history(1), seed: 1)
        for _ in 0..<60 { room.act() }
        let reply = try room.reply(.binary)
        #expect(throws: StudentBoard.Divergence.self) { try StudentBoard(reply, weightLimit: 100) }
        #expect(throws: Never.self) { try StudentBoard(reply, weightLimit: 100_000) }
    }
}
