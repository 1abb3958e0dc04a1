import StrokeWire
import TestSupport

@testable import Whiteboard

/// A room with one author, without a server, in virtual time.
struct DrawnRoom {
    private var room = Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0))
    private var effects = RoomEffects()
    private var number = 0

    /// The board as it is now.
    var board: Board { room.head }

    /// The snapshot for a student who joins now.
    var catchUp: CatchUp {
        CatchUp(incarnation: "test", index: board.index, digest: board.digest, content: .board(board))
    }

    /// Draws a stroke across a board of 400 × 300, a different one each time.
    mutating func draw() throws {
        let points = (0..<12).map { #"{"x":\#(($0 * 37 + number * 7) % 400),"y":\#(($0 * 53 + number * 11) % 300)}"# }
        try send(#""l":4,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    /// Draws a diagonal across a board of that size.
    mutating func draw(width: Int, height: Int) throws {
        try send(#""l":4,"w":\#(width),"h":\#(height),"d":[{"x":0,"y":0},{"x":\#(width),"y":\#(height)}]"#)
    }

    /// Draws a thin zigzag of so many segments that rendering takes long.
    mutating func drawLong() throws {
        let points = (0..<1500).map { #"{"x":\#($0 % 2 * 390),"y":\#($0 * 53 % 300)}"# }
        try send(#""l":0.1,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    mutating func draw(_ count: Int) throws {
        for _ in 0..<count { try draw() }
    }

    mutating func undo() throws { try send(#""a":2"#) }

    mutating func clear() throws { try send(#""a":4"#) }

    private mutating func send(_ members: String) throws {
        guard let author = AuthorID("anna") else { throw Unexpected("not an author") }
        number += 1
        // A minute apart: below the limits on the rate of messages.
        let now = Instant(nanoseconds: 0) + .seconds(60 * number)
        let bytes = Array(#"{"n":\#(number),"t":0,\#(members)}"#.utf8)
        let incoming = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
        let before = board.index
        room.receive(incoming, incarnation: { "test" }, at: now, into: &effects)
        effects.removeAll()
        guard board.index == before + 1 else { throw Unexpected("message \(number) was not accepted") }
    }
}
