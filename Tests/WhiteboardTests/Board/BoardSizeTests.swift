import StrokeWire
import Testing
import Whiteboard

@Suite("Board size")
struct BoardSizeTests {
    @Test("The room's board is 1024×768 until its first applied draw, then that one's")
    func firstDraw() {
        var probe = RoomProbe()
        #expect(probe.room.head.size == BoardSize(width: 1024, height: 768))
        probe.send(clear(1, #","w":50,"h":50"#))
        probe.send(#"{"n":2,"w":60,"h":60,"d":[]}"#)
        #expect(probe.room.head.fixedSize == nil)
        probe.send(draw(3, #","w":800,"h":600"#))
        probe.send(draw(4, #","w":400,"h":300"#))
        #expect(probe.room.head.size == BoardSize(width: 800, height: 600))
        probe.send(clear(5))
        #expect(probe.room.head.size == BoardSize(width: 800, height: 600))
    }

    @Test("A first draw without a size fixes the standard one")
    func noSize() {
        var probe = RoomProbe()
        probe.send(draw(1))
        probe.send(draw(2, #","w":400,"h":300"#))
        #expect(probe.room.head.fixedSize == .standard)
    }

    @Test("A configured size stays")
    func configured() {
        var probe = RoomProbe(RoomConfiguration(boardSize: BoardSize(width: 100, height: 50)))
        probe.send(draw(1, #","w":400,"h":300"#))
        #expect(probe.room.head.size == BoardSize(width: 100, height: 50))
    }

    @Test("x is scaled by W/w, y by H/h, the line width by the smaller; what is not given is the room's")
    func scale() {
        let board = BoardSize(width: 1000, height: 600)
        let both = board.scale(for: StrokeMessage(number: 1, boardWidth: 500, boardHeight: 200))
        #expect(both == (2, 3, 2))
        let one = board.scale(for: StrokeMessage(number: 1, boardHeight: 1200))
        #expect(one == (1, 0.5, 0.5))
        #expect(board.scale(for: StrokeMessage(number: 1)) == (1, 1, 1))
    }
}
