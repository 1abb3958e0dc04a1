import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// The service's room behind a gateway, and what devices of its author post to it.
private final class DrawingRoom {
    private var room: Room
    private var effects = RoomEffects()
    let author = AuthorID("anna")!
    /// Released operations: their messages.
    private(set) var operations: [(index: UInt64, bytes: [UInt8])] = []
    var incarnation: String { room.incarnation }
    private(set) var wetUpdates: [WetUpdate] = []

    init() {
        var intake = IntakeLimits()
        intake.wire.colours = .rgb
        room = Room(configuration: RoomConfiguration(intake: intake), at: Instant(nanoseconds: 1_000_000_000))
    }

    /// Takes the messages of a post. Returns the body of the answer.
    func post(_ post: DrawingPost, at now: Duration) throws -> [UInt8] {
        let lines = post.body.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        guard post.target == .strokes else {
            for line in lines { wetUpdates.append(try WetUpdate(decoding: line)) }
            return []
        }
        let instant = Instant(nanoseconds: 1_000_000_000) + now
        var results: [Int64: String] = [:]
        for line in lines {
            let message = IncomingMessage(
                author: author, session: post.session, bytes: line, loggedAt: instant, isLimited: false)
            room.receive(message, incarnation: { "log-1" }, at: instant, into: &effects)
            for effect in effects.list {
                switch effect {
                case .head(let operation): operations.append((operation.index, operation.restoredMessage))
                case .feedback(_, let session, .applied(let number, let index)) where session == post.session:
                    results[number] = "\"index\":\(index)"
                case .feedback(_, let session, .rejected(let number?, _, let rejection)) where session == post.session:
                    results[number] = "\"error\":{\"code\":\"\(rejection.code.rawValue)\",\"message\":\"no\"}"
                default: break
                }
            }
            effects.removeAll()
        }
        let texts = try lines.map { line in
            let number = try StrokeMessage(decoding: line, limits: .outbox).number
            return "{\"n\":\(number),\(results[number] ?? "\"status\":\"held\"")}"
        }
        return Array("{\"results\":[\(texts.joined(separator: ","))]}".utf8)
    }
}

/// What a browser's profile keeps: shared by its tabs.
private final class DrawingStore {
    var records: [OperationKey: [UInt8]] = [:]
    var wroteHere = false
    var fails = false
}

/// A page or an app: carries out what a session returns, with faults.
private struct DrawingDevice {
    var session: DrawingSession
    let store: DrawingStore
    let room: DrawingRoom
    private(set) var events: [DrawingEvent] = []
    /// Requests that wait for the network.
    var posts: [DrawingPost] = []
    var looks = 0
    private(set) var wake: Duration?
    private var shown: UInt64 = 0

    init(_ store: DrawingStore, _ room: DrawingRoom, seed: UInt64, at now: Duration) {
        session = DrawingSession(author: "anna", name: "Anna", startTime: 1_700_000_000_000, seed: seed)
        (self.store, self.room) = (store, room)
        session.joined(incarnation: room.incarnation)
        session.rightChanged(true, at: now)
        run(at: now)
    }

    mutating func run(at now: Duration) {
        while true {
            switch session.next(at: now) {
            case .event(let event): events.append(event)
            case .load:
                let records = store.records.map { StoredOperation($0.key, bytes: $0.value) }
                session.loaded(store.fails ? nil : records, wroteHere: store.wroteHere, at: now)
            case .store(let write):
                if !store.fails {
                    for record in write.records { store.records[record.key] = record.bytes }
                    for key in write.deleted { store.records[key] = nil }
                }
                session.stored(write.id, isKept: !store.fails, at: now)
            case .note(let writesHere): store.wroteHere = writesHere
            case .post(let post): posts.append(post)
            case .look: looks += 1
            case .wait(let time):
                wake = time
                return
            }
        }
    }

    /// Carries out the first request; its answer arrives or not.
    mutating func exchange(isLost: Bool = false, answerIsLost: Bool = false, at now: Duration) throws {
        guard !posts.isEmpty else { return }
        let post = posts.removeFirst()
        let answer = isLost ? nil : try room.post(post, at: now)
        if let answer, !answerIsLost {
            session.answered(post.id, with: answer, at: now)
        } else {
            session.failed(post.id, .unreachable, at: now)
        }
        run(at: now)
    }

    /// The board of the page shows what the room has.
    mutating func follow(at now: Duration) {
        session.joined(incarnation: room.incarnation)
        for (index, bytes) in room.operations where index > shown {
            session.boardShows(bytes, at: now)
            session.boardChanged(index: index)
            shown = index
        }
        run(at: now)
    }

    /// The request of strokes that waits for the network.
    mutating func takeStrokes() throws -> DrawingPost {
        let place = posts.firstIndex { $0.target == .strokes }
        return posts.remove(at: try #require(place))
    }

    mutating func draw(_ x: Int, points: Int = 3, at now: Duration) {
        let time = Double(now.components.seconds) * 1000
        let change = session.penDown(
            Pen.Pointer(id: 1, kind: .pen), Pen.Sample(x: Double(x), y: 1, time: time), time: nil)
        guard change.hasBegun else { return }
        for place in 1..<points {
            _ = session.penMoved(
                1, kind: .pen, [Pen.Sample(x: Double(x), y: Double(place + 1), time: time + Double(place))], at: now)
        }
        _ = session.penUp(1, at: now)
        run(at: now)
    }

    /// Sends until all is answered and the store has been told.
    mutating func finish(from now: Duration) throws -> Duration {
        var now = now
        for _ in 0..<5000 where session.waitingCount > 0 || !posts.isEmpty {
            try exchange(at: now)
            follow(at: now)
            now = max(now + .milliseconds(50), min(wake ?? now, now + .seconds(20)))
            run(at: now)
        }
        follow(at: now)
        return now
    }
}

@Suite("A teacher who draws")
struct DrawingSessionTests {
    /// The strokes of a room by the places where they begin, in its order.
    private func places(_ room: DrawingRoom) throws -> [Int] {
        try room.operations.compactMap { _, bytes in
            let message = try StrokeMessage(accepted: bytes)
            return message.action == .draw ? message.decodePoints(of: bytes).first.map { Int($0.x) } : nil
        }
    }

    private func numbers(_ device: DrawingDevice) throws -> [Int] {
        try device.session.live.map { entry in
            let message = try StrokeMessage(accepted: entry.message)
            return Int(message.decodePoints(of: entry.message).first?.x ?? -1)
        }
    }

    @Test(
        "every stroke is in the room once and in its order, whatever is lost, fails or is reloaded",
        arguments: TestSeed.choose(12))
    func losses(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: seed, at: now)
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

    @Test("a store that fails loses nothing of a page that goes on, and what it takes later is stored")
    func failingStore() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        store.fails = true
        var device = DrawingDevice(store, room, seed: 1, at: .seconds(1))
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

    @Test("what waits is shown in its order, without what an undo or a clear takes back, until the board shows it")
    func live() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: 1, at: now)
        device.draw(1, at: now)
        device.draw(2, points: 900, at: now)
        #expect(try numbers(device) == [1, 2])
        let first = try #require(device.session.live.first?.id)
        #expect(device.session.perform(.undo, time: nil, at: now) == true)
        #expect(try numbers(device) == [1])
        #expect(device.session.live.first?.id == first)
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

    @Test("the stroke under the pen goes out point by point, with predictions, and its operation has all its points")
    func wetInk() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: 1, at: now)
        let pointer = Pen.Pointer(id: 1, kind: .pen)
        func sample(_ place: Int) -> Pen.Sample { Pen.Sample(x: Double(place), y: 5, time: Double(place) * 4) }
        _ = device.session.penDown(pointer, sample(0), time: 7000)
        for place in 1..<1000 {
            now += .milliseconds(4)
            _ = device.session.penMoved(1, kind: .pen, [sample(place)], predicted: [sample(place + 1)], at: now)
            device.run(at: now)
            // Every third request is lost.
            try device.exchange(isLost: place % 3 == 0, at: now)
        }
        _ = device.session.penRevised(990, Pen.Sample(x: 990, y: 6, time: 0), at: now)
        now += .seconds(1)
        device.run(at: now)
        try device.exchange(at: now)
        var points: [StrokePoint] = []
        for (place, update) in room.wetUpdates.enumerated() {
            #expect(update.number == 1 && (place == 0 || update.update > room.wetUpdates[place - 1].update))
            guard case .points(let part) = update.content else {
                Issue.record("given up")
                continue
            }
            #expect(part.style.time == 7000 && part.style.page == 0)
            #expect(part.first <= points.count, "a part that does not follow is ignored")
            points.replaceSubrange(part.first..<min(points.count, part.first + part.points.count), with: part.points)
        }
        #expect(room.wetUpdates.count > 20)
        #expect(points.count == 1000 && points[990].y == 6)
        _ = device.session.penUp(1, at: now)
        device.run(at: now)
        _ = try device.finish(from: now)
        let bytes = try #require(room.operations.first?.bytes)
        #expect(try StrokeMessage(accepted: bytes).decodePoints(of: bytes) == points)
    }

    @Test("a stroke that is given up is told of, and the next one with its number counts its updates on")
    func givenUp() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        let now = Duration.seconds(1)
        var device = DrawingDevice(store, room, seed: 1, at: now)
        let pointer = Pen.Pointer(id: 1, kind: .pen)
        _ = device.session.penDown(pointer, Pen.Sample(x: 1, y: 1, time: 0), time: nil)
        device.run(at: now)
        try device.exchange(at: now)
        #expect(device.session.penCancelled(1) == Pen.Change(isCancelled: true))
        device.run(at: now)
        try device.exchange(at: now)
        #expect(device.session.live.isEmpty && device.session.waitingCount == 0)
        _ = device.session.penDown(pointer, Pen.Sample(x: 2, y: 1, time: 9), time: nil)
        device.run(at: now)
        let left = device.session.leave()
        let post = try #require(left)
        #expect(post.outlivesShell)
        _ = try room.post(device.posts.removeFirst(), at: now)
        _ = try room.post(post, at: now)
        #expect(room.wetUpdates.map(\.update) == [1, 2, 3, 4])
        #expect(room.wetUpdates.map { $0.content == .givenUp } == [false, true, false, true])
    }

    @Test("who begins where the author writes is asked first; the other device sends what it had left")
    func devices() throws {
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

    @Test("a muted author draws nothing, is looked for, and goes on when that is over")
    func muted() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var device = DrawingDevice(store, room, seed: 1, at: .seconds(1))
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

    @Test("a gateway that is busy or refuses is told of, and asked again no sooner than it wants")
    func busy() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var device = DrawingDevice(store, room, seed: 1, at: .zero)
        device.draw(1, at: .zero)
        let post = try device.takeStrokes()
        let body = Array(#"{"error":{"code":"rate-limited","message":"Slower."}}"#.utf8)
        device.session.failed(post.id, GatewayFailure(status: 429, body: body, retryAfter: "7"), at: .zero)
        device.run(at: .seconds(7))
        #expect(device.posts.isEmpty)
        let states = device.events.compactMap { if case .sending(let state) = $0 { state } else { nil } }
        guard case .waiting(let failure, let until)? = states.last else {
            Issue.record("\(states)")
            return
        }
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

    @Test("an author sends no more than a room takes in a second, and long strokes in several requests")
    func rate() throws {
        let (room, store) = (DrawingRoom(), DrawingStore())
        store.wroteHere = true
        var device = DrawingDevice(store, room, seed: 1, at: .zero)
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
