import StrokeWire
import TestSupport
import Whiteboard

/// A room that one author draws in, without a server and in no time.
struct DrawnRoom {
    private var room = Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0))
    private var effects = RoomEffects()
    private var number = 0

    /// The board as it is now.
    var board: Board { room.head }

    /// Draws a stroke all over a board of 400 × 300, another one every time.
    mutating func draw() throws {
        let points = (0..<12).map { #"{"x":\#(($0 * 37 + number * 7) % 400),"y":\#(($0 * 53 + number * 11) % 300)}"# }
        try send(#""l":4,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    mutating func draw(_ count: Int) throws {
        for _ in 0..<count { try draw() }
    }

    mutating func undo() throws { try send(#""a":2"#) }

    mutating func clear() throws { try send(#""a":4"#) }

    private mutating func send(_ members: String) throws {
        guard let author = AuthorID("anna") else { throw Unexpected("not an author") }
        number += 1
        // A minute apart, no author sends too much.
        let now = Instant(nanoseconds: 0) + .seconds(60 * number)
        let bytes = Array(#"{"n":\#(number),"t":0,\#(members)}"#.utf8)
        let incoming = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
        let before = board.index
        room.receive(incoming, incarnation: { "test" }, at: now, into: &effects)
        effects.removeAll()
        guard board.index == before + 1 else { throw Unexpected("message \(number) was not accepted") }
    }
}
