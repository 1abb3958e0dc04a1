import StrokeWire
import TestSupport
import Testing

@testable import ClientCore

/// What a device had left when another one of its author took over.
extension DrawingSessionTests {
    /// Two devices of an author: the first has drawn something that the room has, the second has taken over since.
    private func pair(_ room: DrawingRoom, seed: UInt64, at now: inout Duration) throws -> [DrawingDevice] {
        let home = DrawingStore()
        home.wroteHere = true
        var first = DrawingDevice(home, room, seed: seed, at: now)
        first.draw(1, at: now)
        now = try first.finish(from: now)
        var second = DrawingDevice(DrawingStore(), room, seed: seed &+ 1, at: now)
        second.session.looked(isWriting: true, isMuted: false, at: now)
        second.run(at: now)
        second.session.takeOver(at: now)
        second.run(at: now)
        now += .seconds(1)
        second.draw(300, at: now)
        now = try second.finish(from: now)
        return [first, second]
    }

    @Test(
        "all that a device had left is in the room, each once and in order, while the other one draws on",
        arguments: TestSeed.choose(6))
    func leftWhileTheOtherDraws(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        var devices = try pair(room, seed: seed, at: &now)
        // The first has no connection, and draws more than fits one request.
        for place in 2...201 { devices[0].draw(place, at: now) }
        try devices[0].exchange(at: now)
        now += .seconds(2)
        devices[0].run(at: now)
        #expect(devices[0].session.state == .superseded && devices[0].session.waitingCount == 200)
        var next = 301
        for _ in 0..<3000 where devices[0].session.waitingCount + devices[1].session.waitingCount > 0 || next < 340 {
            now += .milliseconds(random.int(20...200))
            if next < 340, random.chance(1, in: 3) {
                devices[1].draw(next, at: now)
                next += 1
            }
            for place in random.pick([[0, 1], [1, 0]]) {
                devices[place].run(at: now)
                try devices[place].exchange(at: now)
                devices[place].follow(at: now)
            }
        }
        #expect(devices[0].session.waitingCount == 0 && devices[1].session.waitingCount == 0, "seed \(seed)")
        #expect(devices[0].session.state == .superseded && devices[1].session.state == .writer, "seed \(seed)")
        let places = try places(room)
        #expect(places.filter { $0 < 300 } == Array(1...201), "seed \(seed)")
        #expect(places.filter { $0 >= 300 } == Array(300..<340), "seed \(seed)")
        for (_, bytes) in room.operations {
            let message = String(decoding: bytes, as: UTF8.self)
            #expect(message.split(separator: "\"left\"").count <= 2, "each says once that it was left")
        }
    }

    @Test("what was left and may be in the room goes out again under its number, and only then under another")
    func leftWithoutAnAnswer() throws {
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        var first = try pair(room, seed: 1, at: &now)[0]
        for place in 2...4 { first.draw(place, at: now) }
        try first.exchange(at: now)
        now += .seconds(2)
        first.run(at: now)
        let post = try first.takeStrokes()
        func answer(_ third: String) -> [UInt8] {
            let over = "\"error\":{\"code\":\"session-over\",\"message\":\"no\"}"
            return Array("{\"results\":[{\"n\":1,\(over)},{\"n\":2,\(over)},{\"n\":3,\(third)}]}".utf8)
        }
        first.session.answered(post.id, with: answer("\"status\":\"held\""), at: now)
        first.run(at: now)
        #expect(first.posts.isEmpty, "it waits")
        now += .seconds(1)
        first.run(at: now)
        let again = try first.takeStrokes()
        #expect(again.session == post.session && again.body == post.body)
        first.session.answered(again.id, with: answer("\"index\":9"), at: now)
        first.run(at: now)
        #expect(first.posts.isEmpty && first.session.waitingCount == 2)
        now += .seconds(2)
        first.run(at: now)
        let other = try first.takeStrokes()
        #expect(other.session != post.session)
        #expect(other.body.split(separator: UInt8(ascii: "\n")).count == 2)
    }
}
