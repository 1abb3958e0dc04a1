import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct BoardRendererTests {
    private let start = Instant(nanoseconds: 0)

    private func subject(
        _ room: String = "room", cohort: CohortName = .main, width: Int? = nil
    ) throws -> PictureSubject {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        let life = PictureSubject.RoomLife(room: id, incarnation: "test")
        return PictureSubject(room: life, cohort: cohort, width: width)
    }

    private func renderer(_ byteLimit: Int = 64 << 20) -> BoardRenderer {
        BoardRenderer(ServerConfiguration(), byteLimit: byteLimit)
    }

    @Test func `a canvas that was given back comes back with the same pixels`() throws {
        var room = DrawnRoom()
        try room.draw(30)
        let renderer = renderer()
        let before = try renderer.png(of: room.board, subject(), at: start)
        renderer.giveBack(unusedSince: start)
        #expect(!renderer.isEmpty, "it was used just then")
        renderer.giveBack(unusedSince: start + .seconds(1))
        #expect(renderer.isEmpty)
        #expect(renderer.byteCount == 0)
        #expect(try renderer.png(of: room.board, subject(), at: start + .seconds(2)) == before)
    }

    @Test func `all rooms together keep within the bytes they may`() throws {
        let limit = 4 << 20
        let renderer = renderer(limit)
        var room = DrawnRoom()
        try room.draw(10)
        var first: [UInt8] = []
        for number in 0..<15 {
            let file = try renderer.png(of: room.board, subject("room\(number)"), at: start + .seconds(number))
            if number == 0 { first = file }
            #expect(renderer.byteCount <= limit, "\(number)")
        }
        #expect(renderer.byteCount > limit / 4, "nothing is given back while there is place")
        let drawn = renderer.strokesDrawn
        _ = try renderer.png(of: room.board, subject("room14"), at: start + .seconds(15))
        #expect(renderer.strokesDrawn == drawn, "the newest room was kept")
        #expect(try renderer.png(of: room.board, subject("room0"), at: start + .seconds(16)) == first)
    }

    @Test func `a picture is drawn and encoded once, whichever cohort it is for`() throws {
        var room = DrawnRoom()
        try room.draw(5)
        let renderer = renderer()
        let first = try renderer.png(of: room.board, subject(), at: start)
        let again = try renderer.png(of: room.board, subject(), at: start) {
            Issue.record("there was nothing to draw")
            return true
        }
        let hls = try #require(CohortName("hls"))
        let other = try renderer.png(of: room.board, subject(cohort: hls), at: start)
        #expect(renderer.strokesDrawn == 5)
        func place(_ file: [UInt8]) -> UnsafeRawPointer? { file.withUnsafeBytes { $0.baseAddress } }
        #expect(place(again) == place(first))
        #expect(place(other) == place(first))
    }

    @Test func `undo draws nothing, and neither does another width`() throws {
        var room = DrawnRoom()
        try room.draw(4)
        let renderer = renderer()
        let before = try renderer.png(of: room.board, subject(), at: start)
        try room.draw()
        _ = try renderer.png(of: room.board, subject(), at: start)
        try room.undo()
        #expect(try renderer.png(of: room.board, subject(), at: start) == before)
        _ = try renderer.png(of: room.board, subject(width: 100), at: start)
        #expect(renderer.strokesDrawn == 5)
    }

    @Test func `a drawing that nobody wants any more ends at the next stroke, and is gone on with`() throws {
        var room = DrawnRoom()
        try room.draw(12)
        let renderer = renderer()
        var left = 7
        #expect(throws: BoardRenderer.Abandoned.self) {
            try renderer.png(of: room.board, subject(), at: start) {
                left -= 1
                return left >= 0
            }
        }
        #expect(renderer.strokesDrawn == 7)
        let file = try renderer.png(of: room.board, subject(), at: start)
        #expect(renderer.strokesDrawn == 12)
        #expect(try file == self.renderer().png(of: room.board, subject(), at: start))
    }

    @Test func `a picture has the size of the board, also when it was asked for before the first stroke`() throws {
        var room = DrawnRoom()
        let renderer = renderer()
        #expect(try size(of: renderer.png(of: room.board, subject(), at: start)) == [1024, 768])
        try room.draw()
        #expect(try size(of: renderer.png(of: room.board, subject(), at: start)) == [400, 300])
        try room.clear()
        #expect(try size(of: renderer.png(of: room.board, subject(), at: start)) == [400, 300])
    }

    private func size(of file: [UInt8]) -> [Int] {
        [16, 20].map { place in file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    }
}
