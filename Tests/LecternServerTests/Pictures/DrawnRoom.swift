import StrokeWire
import TestSupport

@testable import LecternServer
@testable import Whiteboard

extension RenderKey {
    /// What ``BoardRenderer/picture(of:slowest:in:_:images:at:while:)`` renders of the cohort.
    static func test(_ form: PictureForm = PictureForm()) throws -> RenderKey {
        RenderKey(room: RoomIncarnation(room: try .test("room"), incarnation: "test"), view: .cohort(.main), form: form)
    }
}

extension BoardRenderer {
    /// A renderer that has enough memory for most boards.
    static func test(
        _ byteLimit: Int = 64 << 20, _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) -> BoardRenderer { BoardRenderer(.test(adjust), byteLimit: byteLimit) }

    func picture(
        of board: Board, slowest: UInt64 = 0, in room: String = "room", _ form: PictureForm = PictureForm(),
        images: PageImageSet = .none, at now: Instant = Instant(nanoseconds: 0), while interest: Interest = Interest()
    ) throws -> [UInt8] {
        let life = RoomIncarnation(room: try .test(room), incarnation: "test")
        return try picture(of: board, slowest: slowest, life, form, images: images, at: now, while: interest)
    }
}

/// A room with one author, without a server, in virtual time.
struct DrawnRoom {
    private var room = Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0))
    private var effects = RoomEffects()
    private var number = 0

    /// The board as it is now.
    var board: Board { room.head }

    /// The snapshot for a student who joins now.
    var catchUp: CatchUp {
        CatchUp(
            incarnation: "test", index: board.index, digest: board.digest, knownPages: board.pages,
            hasPages: board.hasPages, content: .board(board))
    }

    init() {}

    /// A room with so many strokes of ``draw()``.
    init(strokes: Int) throws { try draw(strokes) }

    /// A room with a diagonal across a board of that size.
    init(width: Int, height: Int) throws { try draw(width: width, height: height) }

    /// Draws a stroke across a board of 400 × 300, a different one each time.
    mutating func draw() throws {
        let points = (0..<12).map { #"{"x":\#(($0 * 37 + number * 7) % 400),"y":\#(($0 * 53 + number * 11) % 300)}"# }
        try send(#""l":4,"w":400,"h":300,"d":[\#(points.joined(separator: ","))]"#)
    }

    /// Shows a page.
    mutating func turn(to page: Int) throws { try send(#""a":5,"g":\#(page)"#) }

    /// Draws a diagonal across a board of that size.
    mutating func draw(width: Int, height: Int) throws {
        try send(#""l":4,"w":\#(width),"h":\#(height),"d":[{"x":0,"y":0},{"x":\#(width),"y":\#(height)}]"#)
    }

    /// Draws one of many words on a board of 1280 × 720.
    mutating func drawLarge() throws {
        let (left, top) = (number * 97 % 1100, number * 61 % 640)
        let points = (0..<24).map { #"{"x":\#(left + $0 * 7),"y":\#(top + $0 * 29 % 60)}"# }
        try send(#""l":4,"w":1280,"h":720,"d":[\#(points.joined(separator: ","))]"#)
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

    /// Sends a message with these members, which has to be accepted.
    mutating func send(_ members: String) throws {
        let author = try AuthorID.test("anna")
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
