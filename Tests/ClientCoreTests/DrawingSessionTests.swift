import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

@Suite("A teacher who draws")
struct DrawingSessionTests {
    let room = DrawingRoom()
    let store = DrawingStore()

    /// A device of the author that has written here before.
    func device(seed: UInt64 = 1, at now: Duration = .seconds(1)) -> DrawingDevice {
        store.wroteHere = true
        return DrawingDevice(store, room, seed: seed, at: now)
    }

    /// The strokes of a room by the places where they begin, in its order.
    func places(_ room: DrawingRoom) throws -> [Int] {
        try room.operations.compactMap { _, bytes in
            let message = try StrokeMessage(accepted: bytes)
            return message.action == .draw ? message.decodePoints(of: bytes).first.map { Int($0.x) } : nil
        }
    }

    func numbers(_ device: DrawingDevice) throws -> [Int] {
        try device.session.live.map { entry in
            let message = try StrokeMessage(accepted: entry.message)
            return Int(message.decodePoints(of: entry.message).first?.x ?? -1)
        }
    }

    @Test(arguments: TestSeed.choose(12))
    func `every stroke is in the room once, in its order, whatever is lost, fails or reloads`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var now = Duration.seconds(1)
        var device = device(seed: seed)
        var (drawn, next): ([Int], Int) = ([], 1)
        for _ in 0..<400 {
            now += .milliseconds(random.int(1...400))
            switch random.int(0...11) {
            case 0...3:
                device.draw(next, points: random.chance(1, in: 8) ? random.int(401...2000) : random.int(2...5), at: now)
                drawn.append(next)
                next += 1
            case 4...6: try device.exchange(at: now)
            case 7: try device.exchange(isLost: true, at: now)
            case 8: try device.exchange(answerIsLost: true, at: now)
            case 9: device.follow(at: now)
            case 10: device.run(at: now)
            default:
                // A crash: what is stored is there, and the answers to what is under way are not.
                device = DrawingDevice(store, room, seed: random.next(), at: now)
            }
            device.run(at: now)
            let seen = device.session.waitingCount
            #expect(seen <= store.records.count, "seed \(seed): what waits is stored")
        }
        now = try device.finish(from: now)
        #expect(device.session.waitingCount == 0, "seed \(seed)")
        #expect(try places(room) == drawn, "seed \(seed)")
        #expect(device.session.live.isEmpty, "seed \(seed)")
        // A checkpoint that holds all makes the store empty.
        device.session.covered(session: device.session.session, number: Int64.max >> 12)
        device.run(at: now)
        #expect(store.records.isEmpty, "seed \(seed)")
    }

    @Test
    func `a rough line whose pen rests is even on all boards, and the next undo brings the rough one back`() throws {
        var now = Duration.seconds(1)
        var device = device()
        func draw(restsAfter rest: Double?, isFlat: Bool = true) -> Element? {
            let start = Double(now.components.seconds) * 1000
            func sample(_ step: Int) -> Pen.Sample {
                let y = isFlat ? 100 + step % 3 : 100 + (step % 6) * 30
                return Pen.Sample(x: Double(100 + 10 * step), y: Double(y), time: start + Double(step * 16))
            }
            _ = device.session.penDown(Pen.Pointer(id: 1, kind: .pen), sample(0), time: 5)
            for step in 1...30 { _ = device.session.penMoved(1, kind: .pen, [sample(step)], at: now) }
            device.run(at: now)
            let rested = rest.flatMap { device.session.penRested(1, time: start + 480 + $0, at: now) }
            if let rested {
                #expect(rested.change.first == 0)
                // The even shape stays as it is.
                #expect(device.session.penMoved(1, kind: .pen, [sample(50)], at: now) == Pen.Change())
                #expect(device.session.pen.stroke.points.count == 2)
            }
            device.run(at: now)
            _ = device.session.penUp(1, time: start + 2000, at: now)
            if rested != nil {
                // It says until when the pen has rested: its time is not behind the live one.
                let bytes = device.session.live.last?.message ?? []
                let points = (try? StrokeMessage(accepted: bytes))?.decodePoints(of: bytes)
                #expect(points?.last?.milliseconds == 2000)
            }
            device.run(at: now)
            return rested?.element
        }
        func told() throws -> [(action: Action, element: Element, points: Int, end: Double?)] {
            now = try device.finish(from: now)
            return try room.operations.map { _, bytes in
                let message = try StrokeMessage(accepted: bytes)
                let points = message.decodePoints(of: bytes)
                return (message.action, message.element, points.count, points.last?.milliseconds)
            }
        }
        #expect(draw(restsAfter: 400) == nil, "too short a rest")
        #expect(draw(restsAfter: 600, isFlat: false) == nil, "no shape")
        #expect(draw(restsAfter: nil) == nil)
        #expect(draw(restsAfter: 600) == .line)
        var seen = try told()
        #expect(seen.map { $0.element } == [.freehand, .freehand, .freehand, .line])
        #expect(seen.map { $0.points } == [31, 31, 31, 2])
        #expect(device.session.perform(.undo, time: 7, at: now) == true)
        seen = try told()
        #expect(seen.suffix(2).map { $0.action } == [.undo, .draw])
        #expect(seen.last?.element == .freehand && seen.last?.points == 31 && seen.last?.end == 0)
        // It is a stroke as any other.
        #expect(device.session.perform(.undo, time: 8, at: now) == true)
        seen = try told()
        #expect(seen.count == 7 && seen.last?.action == .undo)
        // After another stroke the undo is of that.
        #expect(draw(restsAfter: 600) == .line)
        #expect(draw(restsAfter: nil) == nil)
        #expect(device.session.perform(.undo, time: 9, at: now) == true)
        #expect(try told().count == 10)
        #expect(device.session.perform(.undo, time: 10, at: now) == true)
        #expect(try told().count == 11)
    }

    @Test func `a slow hand on a board that is seen sixteen times larger does not rest, and one on a small board does`()
    {
        var device = device()
        func rests(step: Double, within reach: Double) -> Bool {
            _ = device.session.penDown(
                Pen.Pointer(id: 1, kind: .pen), Pen.Sample(x: 100, y: 100, time: 0), time: nil)
            for number in 1...200 {
                // Then it goes on more slowly.
                let x = 100 + step * Double(min(number, 150)) + step / 10 * Double(max(number - 150, 0))
                let sample = Pen.Sample(x: x, y: 100, time: Double(number * 16))
                _ = device.session.penMoved(1, kind: .pen, [sample], at: .zero)
            }
            defer { _ = device.session.penCancelled(1) }
            return device.session.penRested(1, time: 3200, within: reach, at: .zero) != nil
        }
        // In half a second 2 board units: 32 pixels of the large board, and less than one of the small one.
        #expect(!rests(step: 0.7, within: 4.0 / 16))
        #expect(rests(step: 0.7, within: 4))
        // On a telephone a hand that rests moves by 10 units.
        #expect(!rests(step: 3, within: 4))
        #expect(rests(step: 3, within: 11))
    }

    @Test func `strokes drawn anew are one step: an undo takes back all of it, and a redo brings it again`() throws {
        var now = Duration.seconds(1)
        var device = device()
        func told() throws -> [Action] {
            now = try device.finish(from: now)
            return try room.operations.map { try StrokeMessage(accepted: $0.bytes).action }
        }
        let strokes = (0..<2).map { number in
            let header = StrokeMessage(number: 0, colour: 1, width: 3, boardWidth: 1024, boardHeight: 768)
            let points = [
                StrokePoint(x: 9, y: 9, milliseconds: 0), StrokePoint(x: 99, y: Double(number), milliseconds: 800),
            ]
            return (header: header, points: points)
        }
        #expect(device.session.redraw([1, 2], as: [], time: 1, at: now) == false)
        for _ in 0..<2 {
            #expect(
                device.session.perform(
                    .text("a", colour: 0, lineHeight: 20, x: 0, y: 0, width: 20, height: 20), time: 1, at: now) == true)
        }
        #expect(try told() == [.draw, .draw])
        #expect(device.session.redraw([1, 2], as: strokes, time: 2, at: now) == true)
        // The removal comes last, and so is undone first: whatever the room remembers, no ink is lost.
        #expect(try told().suffix(3) == [.draw, .draw, .remove])
        let bytes = try #require(room.operations.dropLast().last).bytes
        let message = try StrokeMessage(accepted: bytes)
        #expect(message.colour == 1 && message.page == 0 && message.time == 2)
        // It was drawn long ago, and students see all of it at its time.
        #expect(message.decodePoints(of: bytes).map(\.milliseconds) == [-800, 0])
        #expect(device.session.redraw([3, 4], as: strokes, time: 3, at: now) == true)
        for action in [Action.undo, .undo, .redo, .redo, .undo] {
            #expect(device.session.perform(action == .undo ? .undo : .redo, time: 4, at: now) == true)
            let all = try told()
            #expect(all.suffix(3) == [action, action, action], "\(all)")
        }
        #expect(device.session.perform(.undo, time: 5, at: now) == true)
        // What is left is the two texts, one step each.
        #expect(device.session.perform(.undo, time: 5, at: now) == true)
        #expect(try told().count == 2 + 6 + 15 + 3 + 1)
        #expect(!device.events.contains { if case .rejected = $0 { true } else { false } })
        // What a room has refused is no part of a step: an undo takes one operation then, and none of what was before.
        #expect(device.session.redraw([99], as: strokes, time: 6, at: now) == true)
        #expect(try told().suffix(2) == [.draw, .draw])
        #expect(device.events.contains { if case .rejected = $0 { true } else { false } })
        #expect(device.session.perform(.undo, time: 7, at: now) == true)
        #expect(try told().suffix(3) == [.draw, .draw, .undo])
    }

    @Test func `strokes that do not fit an outbox as a whole are not drawn anew in part`() throws {
        let now = Duration.seconds(1)
        var device = device()
        let header = StrokeMessage(number: 0, colour: 1, width: 3, boardWidth: 1024, boardHeight: 768)
        let stroke = (header: header, points: [StrokePoint(x: 9, y: 9, milliseconds: 0)])
        let most = Outbox.Limits.waiting.operations - 1
        while device.session.waitingCount < most {
            // Strokes and their removal.
            let count = min(most - device.session.waitingCount - 1, 256)
            let strokes = Array(repeating: stroke, count: count)
            try #require(device.session.redraw([1], as: strokes, time: 1, at: now) == true)
        }
        #expect(device.session.redraw([1], as: [stroke], time: 2, at: now) == false)
        #expect(device.session.waitingCount == most)
    }

    @Test func `a store that fails loses nothing of a page that goes on, and what it takes later is stored`() throws {
        store.fails = true
        var device = device()
        device.draw(1, at: .seconds(1))
        device.draw(2, at: .seconds(1))
        #expect(device.events.contains(.outbox(waiting: 2, isKept: false, isFull: false)))
        store.fails = false
        device.draw(3, at: .seconds(1))
        #expect(store.records.count == 3)
        #expect(
            device.events.last { if case .outbox = $0 { true } else { false } }
                == .outbox(waiting: 3, isKept: true, isFull: false))
        _ = try device.finish(from: .seconds(2))
        #expect(try places(room) == [1, 2, 3])
    }

    @Test(
        "waiting operations are shown in order, without those that an undo or a clear takes back, until the board shows them"
    )
    func live() throws {
        var now = Duration.seconds(1)
        var device = device()
        device.draw(1, at: now)
        device.draw(2, points: 900, at: now)
        #expect(try numbers(device) == [1, 2])
        let first = try #require(device.session.live.first?.id)
        #expect(device.session.perform(.undo, time: nil, at: now) == true)
        #expect(try numbers(device) == [1])
        #expect(device.session.live.first?.id == first)
        // An undo takes back the removal before it, and no stroke.
        #expect(device.session.perform(.remove([1]), time: nil, at: now) == true)
        #expect(device.session.perform(.undo, time: nil, at: now) == true)
        #expect(try numbers(device) == [1])
        #expect(device.session.perform(.turn(4), time: nil, at: now) == true)
        #expect(device.session.perform(.turn(4), time: nil, at: now) == false)
        #expect(device.session.page == 4 && device.session.pages.order == [0, 4])
        #expect(try numbers(device) == [])
        device.draw(3, at: now)
        #expect(try numbers(device) == [3])
        #expect(device.session.perform(.turn(0), time: nil, at: now) == true)
        #expect(device.session.perform(.arrange([4, 0]), time: nil, at: now) == true)
        #expect(device.session.pages.order == [4, 0])
        device.run(at: now)
        while !device.posts.isEmpty || device.session.waitingCount > 0 {
            now += .milliseconds(500)
            try device.exchange(at: now)
            // Answered, and not on the board yet.
            #expect(try numbers(device) == [1])
        }
        for (index, bytes) in room.operations {
            let message = try StrokeMessage(accepted: bytes)
            if message.action == .turn {
                device.session.boardChanged(pages: .init(shown: message.page ?? 0, order: [0, 4])!)
            }
            if message.action == .arrange { device.session.boardChanged(pages: .init(shown: 0, order: [4, 0])!) }
            device.session.boardShows(bytes, at: now)
            device.session.boardChanged(index: index)
        }
        #expect(try numbers(device) == [])
        #expect(device.session.pages.order == [4, 0])
    }

    @Test func `a device that begins where the author writes is asked first; the other device sends what it had left`()
        throws
    {
        let room = DrawingRoom()
        var now = Duration.seconds(1)
        let home = DrawingStore()
        home.wroteHere = true
        var first = DrawingDevice(home, room, seed: 1, at: now)
        first.draw(1, at: now)
        now = try first.finish(from: now)
        var second = DrawingDevice(DrawingStore(), room, seed: 2, at: now)
        #expect(second.looks == 1)
        second.session.looked(isWriting: true, isMuted: false, at: now)
        second.run(at: now)
        #expect(second.session.state == .superseded && !second.session.canWrite)
        second.draw(9, at: now)
        #expect(second.session.waitingCount == 0)
        second.session.takeOver(at: now)
        second.run(at: now)
        #expect(second.session.state == .writer)
        now += .seconds(1)
        second.draw(2, at: now)
        now = try second.finish(from: now)
        // The first does not know yet.
        first.draw(3, at: now)
        try first.exchange(at: now)
        first.draw(4, at: now)
        #expect(first.session.state == .writer)
        now += .seconds(2)
        first.run(at: now)
        #expect(first.session.state == .superseded)
        #expect(!home.wroteHere)
        for _ in 0..<4 {
            now += .milliseconds(500)
            first.run(at: now)
            try first.exchange(at: now)
        }
        #expect(first.session.waitingCount == 0)
        #expect(try places(room) == [1, 2, 3, 4])
        #expect(StrokeMessage.isLeft(try #require(room.operations.last).bytes))
        // The second goes on as if nothing had happened.
        second.draw(5, at: now)
        try second.exchange(at: now)
        second.follow(at: now)
        now = try second.finish(from: now)
        #expect(second.session.state == .writer)
        #expect(try places(room) == [1, 2, 3, 4, 5])
    }

    @Test func `a muted author draws nothing, is looked for, and goes on when that is over`() throws {
        var device = device()
        device.session.noteMuted(true, at: .seconds(1))
        device.run(at: .seconds(1))
        device.draw(1, at: .seconds(1))
        #expect(device.session.waitingCount == 0)
        #expect(device.session.perform(.clear, time: nil, at: .seconds(1)) == false)
        device.run(at: .milliseconds(5999))
        #expect(device.looks == 0)
        device.run(at: .seconds(6))
        #expect(device.looks == 1)
        device.session.looked(isWriting: nil, isMuted: false, at: .seconds(6))
        device.run(at: .seconds(6))
        device.draw(1, at: .seconds(7))
        #expect(device.session.waitingCount == 1)
    }

    @Test func `a gateway that is busy or refuses is told of, and asked again no sooner than it wants`() throws {
        var device = device(at: .zero)
        device.draw(1, at: .zero)
        let post = try device.takeStrokes()
        let body = Array(#"{"error":{"code":"rate-limited","message":"Slower."}}"#.utf8)
        device.session.failed(post.id, GatewayFailure(status: 429, body: body, retryAfter: "7"), at: .zero)
        device.run(at: .seconds(7))
        #expect(device.posts.isEmpty)
        let states = device.events.compactMap { if case .sending(let state) = $0 { state } else { nil } }
        guard case .waiting(let failure, let until)? = states.last else { throw Unexpected("\(states)") }
        #expect(failure.code == "rate-limited" && until > .seconds(7) && until < .seconds(8))
        device.run(at: until)
        let again = try device.takeStrokes()
        device.session.failed(again.id, GatewayFailure(status: 413, body: []), at: until)
        device.run(at: until + .milliseconds(14_999))
        #expect(device.posts.isEmpty)
        // The person wants it, or the network is back.
        device.session.retry()
        device.run(at: until + .milliseconds(14_999))
        #expect(device.posts.count == 1)
        try device.exchange(at: until + .seconds(15))
        #expect(device.events.contains(.sending(.live)))
    }

    @Test func `an author sends no more than a room takes in a second, and long strokes in several requests`() throws {
        var device = device(at: .zero)
        for place in 0..<300 { device.draw(place, points: place == 7 ? 30_000 : 2, at: .zero) }
        var sent: [(time: Duration, messages: Int)] = []
        var now = Duration.zero
        while device.session.waitingCount > 0, now < .seconds(60) {
            for post in device.posts where post.target == .strokes {
                sent.append((now, post.body.count { $0 == UInt8(ascii: "\n") }))
                #expect(post.body.count <= 600 << 10)
            }
            try device.exchange(at: now)
            now += .milliseconds(5)
            device.run(at: now)
        }
        #expect(device.session.waitingCount == 0)
        for (time, _) in sent {
            let within = sent.filter { $0.time >= time && $0.time < time + .seconds(1) }
            #expect(within.reduce(0) { $0 + $1.messages } <= 200)
        }
        #expect(now < .seconds(5))
    }
}
