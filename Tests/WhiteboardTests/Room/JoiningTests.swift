import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Joining")
struct JoiningTests {
    private var probe = RoomProbe()

    private func join(_ have: UInt64? = nil, room: String? = "life", _ cohort: CohortName = .main) throws -> CatchUp {
        try #require(probe.room.catchUp(JoinRequest(incarnation: room, have: have), cohort: cohort))
    }

    private func indices(_ catchUp: CatchUp) -> [UInt64]? {
        if case .tail(let operations) = catchUp.content { operations.map(\.index) } else { nil }
    }

    @Test("The board is that of what was released to the cohort, never of the head of the log")
    mutating func noLeak() throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        let catchUp = try join()
        #expect(catchUp.index == 2)
        #expect(catchUp.digest.value == plainDigest([1, 2]))
        guard case .board(let board) = catchUp.content else {
            Issue.record("no board")
            return
        }
        #expect(board.visible.map(\.index) == [1, 2])
        #expect(indices(try join(0)) == [1, 2])
    }

    @Test("Who has a part of this life gets the tail, who has none of it or of another gets the board")
    mutating func forms() throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number)) }
        #expect(indices(try join(0)) == [1, 2, 3, 4, 5])
        #expect(indices(try join(3)) == [4, 5])
        #expect(indices(try join(5)) == [])
        #expect(indices(try join(nil)) == nil)
        #expect(indices(try join(3, room: "other")) == nil)
        #expect(indices(try join(3, room: nil)) == nil)
    }

    @Test("Who is ahead of the cohort gets its lower index and no operations", arguments: [6, UInt64.max])
    mutating func ahead(_ have: UInt64) throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number)) }
        let catchUp = try join(have)
        #expect(catchUp.index == 5)
        #expect(indices(catchUp) == [])
    }

    @Test("A room that nobody has written to is an empty board with index 0 and no incarnation")
    mutating func blank() throws {
        let catchUp = try join(7, room: "")
        #expect(catchUp.incarnation == "")
        #expect(catchUp.index == 0)
        #expect(catchUp.digest == .empty)
        guard case .board(let board) = catchUp.content else {
            Issue.record("no board")
            return
        }
        #expect(board.size == BoardSize(width: 1024, height: 768))
        #expect(board.visible.isEmpty)
    }

    @Test("A join never makes a cohort: one that is not there yet has the empty board, a closed room none at all")
    mutating func unknownCohort() throws {
        let hls = try #require(CohortName("hls"))
        probe.clock(1000)
        probe.send(draw(1))
        #expect(try join(nil, hls).index == 0)
        #expect(probe.room.status(at: probe.now).cohorts.map(\.name) == [.main])
        probe = RoomProbe(RoomConfiguration(cohorts: CohortsConfiguration(open: false)))
        #expect(probe.room.catchUp(JoinRequest(), cohort: hls) == nil)
    }

    @Test("The redo stack comes with the board, the next to be done again last")
    mutating func redoStack() throws {
        probe.clock(1000)
        for text in [draw(1), draw(2), draw(3), undo(4), undo(5)] { probe.send(text) }
        guard case .board(let board) = try join().content else {
            Issue.record("no board")
            return
        }
        #expect(board.visible.map(\.index) == [1])
        #expect(board.undone.map(\.index) == [3, 2])
    }

    @Test("A close ends the life: the board is empty, and who knew the old life gets the board of the new one")
    mutating func close() throws {
        probe.clock(1000)
        probe.send(draw(1))
        probe.record(.close)
        #expect(try join().incarnation == "")
        #expect(probe.room.isBlank)
        probe.send(draw(2))
        probe.clock(1000)
        let catchUp = try join(1, room: "earlier")
        #expect(catchUp.index == 1)
        #expect(indices(catchUp) == nil)
    }
}
