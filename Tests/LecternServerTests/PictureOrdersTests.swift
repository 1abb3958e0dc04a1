import StrokeWire
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct PictureOrdersTests {
    @Test func `nobody gets an older board than there was at the order`() throws {
        let id = try #require(RoomID("room"))
        let life = PictureSubject.RoomLife(room: id, incarnation: "test")
        let subject = PictureSubject(room: life, cohort: .main, width: nil)
        var room = DrawnRoom()
        var boards: [Board] = []
        for _ in 1...3 {
            try room.draw()
            boards.append(room.board)
        }
        var orders = PictureOrders()
        let isFirst = [
            orders.add(subject, of: boards[1], reply: "second"), orders.add(subject, of: boards[0], reply: "first"),
        ]
        #expect(isFirst == [true, false])
        #expect(orders.board(for: subject)?.index == 2, "the newest board is drawn, not the last one ordered")
        _ = orders.add(subject, of: boards[2], reply: "third")

        // The second board was drawn meanwhile.
        var taken = orders.take(subject, through: 2)
        #expect(taken.replies == ["second", "first"] && taken.areMoreLeft)
        #expect(orders.board(for: subject)?.index == 3)
        taken = orders.take(subject, through: 3)
        #expect(taken.replies == ["third"] && !taken.areMoreLeft)
        #expect(orders.board(for: subject) == nil)
        let isFirstAgain = orders.add(subject, of: boards[0], reply: "again")
        #expect(isFirstAgain, "somebody has to draw it")
    }
}
