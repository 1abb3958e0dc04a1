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

    @Test(arguments: TestSeed.choose(6))
    func `all that a device left is in the room, once, in order, while the other one draws on`(seed: UInt64) throws {
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

    @Test
    func
        `an operation that was left and may be in the room goes out again under its number, and only then under another`()
        throws
    {
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

    /// Two devices, of which the second has taken over; the first has drawn places that the room does not have.
    private func superseded(_ room: DrawingRoom, _ places: ClosedRange<Int>, at now: inout Duration) throws
        -> [DrawingDevice]
    {
        var devices = try pair(room, seed: 3, at: &now)
        for place in places { devices[0].draw(place, at: now) }
        try devices[0].exchange(at: now)
        now += .seconds(2)
        devices[0].run(at: now)
        try #require(devices[0].session.state == .superseded && !devices[0].store.wroteHere)
        return devices
    }

    @Test func `a device's rest is sent also where it ends and is opened again, while the other one writes`() throws {
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        let devices = try superseded(room, 2...4, at: &now)
        var second = devices[1]
        now += .seconds(1)
        var again = DrawingDevice(devices[0].store, room, seed: 9, at: now)
        again.session.looked(isWriting: true, isMuted: false, at: now)
        again.run(at: now)
        #expect(again.session.state == .superseded && again.session.waitingCount == 3)
        now = try again.finish(from: now)
        #expect(again.session.state == .superseded && again.session.waitingCount == 0)
        #expect(room.operations.suffix(3).allSatisfy { StrokeMessage.isLeft($0.bytes) })
        second.draw(301, at: now)
        try second.exchange(at: now)
        second.follow(at: now)
        now = try second.finish(from: now)
        #expect(second.session.state == .writer)
        #expect(try places(room) == [1, 300, 2, 3, 4, 301])
    }

    @Test func `a device that takes over again draws nothing twice of what was left and may be in the room`() throws {
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        var first = try superseded(room, 2...4, at: &now)[0]
        try first.exchange(answerIsLost: true, at: now)
        #expect(first.session.waitingCount == 3)
        now += .seconds(1)
        first.session.takeOver(at: now)
        first.run(at: now)
        first.draw(5, at: now)
        now = try first.finish(from: now)
        #expect(first.session.state == .writer && first.session.waitingCount == 0)
        #expect(try places(room) == [1, 300, 2, 3, 4, 5])
        #expect(!StrokeMessage.isLeft(try #require(room.operations.last).bytes))
    }

    @Test("a device opened again when nobody else writes stays the writer, though the session of its rest is over")
    func leftSessionIsOver() throws {
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        // More than fits one request, and that one arrives.
        var devices = try superseded(room, 2...101, at: &now)
        try devices[0].exchange(at: now)
        let left = devices[0].session.waitingCount
        #expect(0 < left && left < 100)
        devices[1].draw(301, at: now)
        try devices[1].exchange(at: now)
        devices[1].follow(at: now)
        now = try devices[1].finish(from: now)
        now += .seconds(1)
        var again = DrawingDevice(devices[0].store, room, seed: 9, at: now)
        again.session.looked(isWriting: false, isMuted: false, at: now)
        again.run(at: now)
        again.draw(102, at: now)
        now = try again.finish(from: now)
        now += .seconds(5)
        again.run(at: now)
        #expect(again.session.state == .writer && again.session.waitingCount == 0)
        #expect(try places(room).filter { $0 < 300 } == Array(1...102))
        #expect(!StrokeMessage.isLeft(try #require(room.operations.last).bytes))
    }
}

extension DrawingSessionTests {
    @Test func `waiting operations go out first, also where the device's clock was set back since they were drawn`()
        throws
    {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var now = Duration.seconds(1)
        var first = DrawingDevice(store, room, seed: 1, at: now)
        for place in 1...3 { first.draw(place, at: now) }
        var next = DrawingDevice(store, room, seed: 2, startTime: 1_700_000_000_000 - 3_600_000, at: now)
        for place in 4...5 {
            next.draw(place, at: now)
            now = try next.finish(from: now) + .seconds(5)
            next.run(at: now)
        }
        #expect(next.session.state == .writer && next.session.waitingCount == 0)
        #expect(try places(room) == [1, 2, 3, 4, 5])
    }
}

/// A shell that ends while requests are under way, and comes back with the same session.
extension DrawingSessionTests {
    /// The shell ends, and no answer comes any more; then it is there again.
    private func comeBack(_ device: inout DrawingDevice, at now: Duration) {
        _ = device.session.leave()
        device.session.rightChanged(false, at: now)
        device.posts = []
        device.session.rightChanged(true, at: now)
        device.run(at: now)
    }

    @Test func `wet ink whose answer never came does not keep back that of the next run`() {
        var now = Duration.seconds(1)
        var device = device()
        func touch() {
            _ = device.session.penDown(Pen.Pointer(id: 1, kind: .pen), Pen.Sample(x: 1, y: 1, time: 0), time: nil)
            device.run(at: now)
        }
        touch()
        #expect(device.posts.map { $0.target } == [.wet])
        comeBack(&device, at: now)
        now += .seconds(1)
        _ = device.session.penCancelled(1)
        touch()
        #expect(device.session.state == .writer)
        #expect(device.posts.map { $0.target } == [.wet])
    }

    @Test func `a look at the room whose answer never came does not keep back that of the next run`() {
        var device = device()
        device.session.noteMuted(true, at: .seconds(1))
        device.run(at: .seconds(6))
        #expect(device.looks == 1)
        comeBack(&device, at: .seconds(7))
        device.run(at: .seconds(11))
        #expect(device.looks == 2)
        device.session.looked(isWriting: nil, isMuted: false, at: .seconds(11))
        #expect(!device.session.isMuted)
    }

    @Test func `a gateway that wants to be left alone for days is asked again after an hour`() {
        for (text, seconds) in [("7", 7.0), ("7.5", 7.5), ("3600", 3600), ("86400", 3600), ("1e300", 3600)] {
            let failure = GatewayFailure(status: 503, body: [], retryAfter: text)
            #expect(failure.retryAfter == .seconds(seconds), "\(text)")
        }
        for text in ["-1", "nan", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            #expect(GatewayFailure(status: 503, body: [], retryAfter: text).retryAfter == nil, "\(text)")
        }
        let failure = GatewayFailure(status: 503, code: "not-ready", message: "", retryAfter: .seconds(1_000_000))
        #expect(failure.retryAfter == .seconds(3600))
    }
}
