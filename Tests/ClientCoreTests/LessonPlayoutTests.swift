import CoreTrial
import Ink
import Raster
import Scene
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// A lesson of two authors who do anything at random, as the service's journal tells it, and its replies.
private struct Lesson {
    private(set) var recording = RecordedRoom(configuration: RoomConfiguration())
    let entries: [ReplayReply.Entry]
    let start: StudentBoard
    private(set) var requests: [ReplayRequest] = []

    init(_ count: Int, seed: UInt64, incarnation: String = "life-1") throws {
        var random = SeededGenerator(seed: seed)
        var numbers = [0, 0]
        var time = 1000
        for place in 0..<count {
            let who = random.int(0...1)
            numbers[who] += 1
            time += random.int(0...400)
            let text = "{\"n\":\(numbers[who]),\"t\":\(time - random.int(0...300)),\(Self.body(&random))}"
            let author = try #require(AuthorID(["anna", "ben"][who]))
            let message = IncomingMessage(
                author: author, session: nil, bytes: Array(text.utf8),
                loggedAt: Instant(nanoseconds: Int64(place) * 100_000_000))
            recording.receive(message, incarnation: { incarnation })
        }
        recording.computeTimes()
        var (entries, request, start) = ([ReplayReply.Entry](), ReplayRequest(), StudentBoard?.none)
        repeat {
            let part = try ReplayReply(decoding: try Self.reply(to: request, from: recording))
            entries += part.operations
            start = try start ?? StudentBoard(try #require(part.board))
            request.after = part.next
        } while request.after != nil
        (self.entries, self.start) = (entries, try #require(start))
    }

    private static func body(_ random: inout SeededGenerator) -> String {
        let page = random.chance(1, in: 3) ? "\"g\":\(random.int(0...3))," : ""
        let (x, y) = (random.int(50...800), random.int(50...700))
        switch random.int(0...31) {
        case 0...4: return "\(page)\"a\":2"
        case 5...7: return "\(page)\"a\":3"
        case 8: return "\(page)\"a\":4"
        case 9: return "\"a\":5,\"g\":\(random.int(0...3))"
        case 10: return "\"a\":6,\"v\":\(random.pick(["[0]", "[1,0]", "[2,0,1]", "[3,1]"]))"
        case 12, 13:
            let points = (0..<random.int(1...9)).map { "{\"x\":\(x + $0),\"y\":\(y),\"m\":\($0 * 70)}" }
            return "\(page)\"e\":7,\"d\":[\(points.joined(separator: ","))]"
        case 11:
            let path = [(0, 0), (250, 0), (250, 250)].map { "{\"x\":\(x + $0.0),\"y\":\(y + $0.1)}" }
            return "\(page)\"e\":6,\"m\":[1,0,0,1,20,30],\"d\":[\(path.joined(separator: ","))]"
        default:
            let hasTimes = random.chance(1, in: 2)
            let points = (0..<random.int(1...20)).map { step in
                "{\"x\":\(x + step * 9),\"y\":\(y + step % 3 * 15)\(hasTimes ? ",\"m\":\(step * 40)" : "")}"
            }
            let style = "\"c\":\(random.int(0...7)),\"l\":4,\"by\":\"N\(random.int(0...1))\""
            return "\(page)\(style),\"d\":[\(points.joined(separator: ","))]"
        }
    }

    private static func reply(to request: ReplayRequest, from recording: RecordedRoom) throws -> [UInt8] {
        try #require(recording.page(request, through: recording.count)).encoded(palette: .standard, style: "smooth")
    }

    mutating func reply(to request: ReplayRequest) throws -> [UInt8] {
        requests.append(request)
        return try Self.reply(to: request, from: recording)
    }

    /// The board that is folded from the start, for a player with strokes that grow or without.
    func board(at time: MediaTime, grows: Bool) throws -> StudentBoard {
        var board = start
        for entry in entries {
            let due = (grows ? entry.endTime : entry.gateTime) ?? .distantPast
            guard due < time else { break }
            try board.apply(try ReleasedOperation(entry.operation))
        }
        return board
    }

    /// How many points of which strokes have grown on a board at a time, by their authors and numbers.
    func growing(at time: MediaTime, above board: StudentBoard) throws -> [String: Int] {
        var (growing, authors) = ([String: Int](), Set<AuthorID>())
        for entry in entries.dropFirst(Int(board.index)) {
            let operation = try ReleasedOperation(entry.operation)
            let header = try operation.header()
            guard header.action == .draw, header.element != .lasso else { break }
            let points = header.decodePoints(of: operation.bytes)
            guard authors.insert(operation.author).inserted, operation.page == board.pages.shown,
                header.element != .pointer,
                points.contains(where: { ($0.milliseconds ?? 0) > 0 })
            else { continue }
            let start = MediaTime(milliseconds: try #require(header.time))
            let count = points.count { start + GrowingPoints.reach(of: $0) < time }
            if count > 0 { growing["\(operation.author.text) \(header.number)"] = count }
        }
        return growing
    }
}

extension Lesson {
    /// Who points on the shown page at a time: numbers of operations, and where, as it was drawn.
    func pointing(at time: MediaTime, above board: StudentBoard, grows: Bool) throws -> [PointerTip] {
        var (tips, authors, isBehindBarrier) = ([PointerTip](), Set<AuthorID>(), false)
        for entry in entries {
            let operation = try ReleasedOperation(entry.operation)
            let header = try operation.header()
            if operation.index > board.index {
                // What is not passed is seen as it grows: the first of its author, and nothing behind what is no stroke.
                isBehindBarrier = isBehindBarrier || !grows || header.action != .draw || header.element == .lasso
                guard !isBehindBarrier, authors.insert(operation.author).inserted else { continue }
            }
            guard header.element == .pointer, header.action == .draw, operation.page == board.pages.shown else {
                continue
            }
            let points = header.decodePoints(of: operation.bytes)
            let elapsed = time - MediaTime(milliseconds: try #require(header.time))
            let reaches = points.map { GrowingPoints.reach(of: $0) }
            guard elapsed > 0, elapsed < (reaches.last ?? 0) + 400_000 else { continue }
            let last = points[reaches.lastIndex { $0 < elapsed } ?? 0]
            tips.append(PointerTip(author: operation.author, x: last.x, y: last.y))
        }
        return tips
    }
}

private struct PointerTip {
    let author: AuthorID
    /// The point that it has passed last.
    let x, y: Double
}

/// A player's page: a playout, and the pixels that a shell would have.
private struct Page {
    var playout: LessonPlayout
    var painter = PlayoutPainter()
    var picture = Picture(prefixBytes: 4 << 20)
    private(set) var actions: [PlayoutAction] = []
    private(set) var now = Duration.zero
    /// How many requests it took until all was there.
    private(set) var requests: Int?

    init(_ playout: LessonPlayout) { self.playout = playout }

    mutating func perform(_ actions: [PlayoutAction]) {
        self.actions += actions
        _ = painter.perform(actions, of: &playout, on: picture)
    }

    mutating func look(_ time: MediaTime) { perform(playout.look(time)) }

    /// Fetches what is asked for, at most so many times.
    mutating func fetch(_ count: Int, from lesson: inout Lesson, time: MediaTime) throws {
        for _ in 0..<count {
            now += .milliseconds(10)
            guard let request = playout.request(at: now) else { return }
            perform(playout.receive(try lesson.reply(to: request)))
            while playout.isAdding { perform(playout.add { false }) }
            if playout.fetched == lesson.entries.count { requests = requests ?? lesson.requests.count }
            look(time)
        }
    }

    mutating func seek(_ time: MediaTime, in lesson: inout Lesson) throws {
        look(time)
        for _ in 0..<50 where !playout.isThere { try fetch(1, from: &lesson, time: time) }
    }

    func draw() -> [UInt32] { picture.allPixels() }
}

extension Picture {
    fileprivate func allPixels() -> [UInt32] {
        while !draw(while: { true }) {}
        presentAll()
        var pixels = [UInt32](repeating: 0, count: size.width * size.height)
        takeBoxes(onto: &pixels, width: size.width)
        return pixels
    }
}

@Suite struct `A recorded lesson that is played while it is fetched` {
    private func time(_ lesson: Lesson, _ random: inout SeededGenerator) -> MediaTime {
        let end = Int64(lesson.entries.compactMap { $0.endTime?.microseconds }.max() ?? 0)
        // Just at an operation, just behind it, and anywhere.
        switch random.int(0...3) {
        case 0: return random.pick(lesson.entries).endTime ?? .distantPast
        case 1: return (random.pick(lesson.entries).gateTime ?? .distantPast) + 1
        default: return MediaTime(microseconds: Int64.random(in: -1_000_000...end + 1_000_000, using: &random))
        }
    }

    @Test(arguments: TestSeed.choose(4))
    func `has at any time the board folded from the start, and the strokes that grow on it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var lesson = try Lesson(900, seed: seed)
        let grows = seed % 2 == 0
        // All of it, or a part.
        let limit = seed / 2 % 2 == 0 ? 1_000_000 : 1500
        var page = Page(LessonPlayout(grows: grows, weightLimit: limit))
        // Before the player's time is known, its beginning.
        let first = page.playout.request(at: .zero)
        page.perform(page.playout.receive(try lesson.reply(to: try #require(first))))
        while page.playout.isAdding { page.perform(page.playout.add { false }) }
        #expect(page.playout.last == lesson.recording.count && page.playout.epochs.count == 1)
        var (mostFetched, passed, pointed) = (0, 0, 0)
        for step in 0..<150 {
            let before = page.playout.board.index
            let time = time(lesson, &random)
            let actions = page.actions.count
            try page.seek(time, in: &lesson)
            #expect(page.playout.isThere, "seed \(seed), step \(step)")
            // What follows grows when it is there.
            try page.fetch(1, from: &lesson, time: time)
            let expected = try lesson.board(at: time, grows: grows)
            #expect(page.playout.board.index == expected.index && page.playout.board.digest == expected.digest)
            #expect(page.playout.board.pages == expected.pages)
            for number in 0...3 {
                #expect(
                    page.playout.board.visible(on: number).map(\.index) == expected.visible(on: number).map(\.index))
            }
            let shown = page.playout.wetInk.strokes.filter { $0.drawnAs != nil && $0.page == expected.pages.shown }
            let growing = Dictionary(
                uniqueKeysWithValues: shown.map { ("\($0.author.text) \($0.number)", $0.points.count) })
            let grown = grows ? try lesson.growing(at: time, above: expected) : [:]
            #expect(growing == grown, "seed \(seed), step \(step)")
            let all = try lesson.pointing(at: time, above: expected, grows: grows)
            // Where few operations are kept, a pointer from before them is not seen.
            let tips = limit < 1_000_000 ? all.suffix(page.playout.pointers.count) : all[...]
            #expect(page.playout.pointers.map(\.author) == tips.map(\.author), "seed \(seed), step \(step)")
            for (sight, tip) in zip(page.playout.pointers, tips) {
                // It moves on to the next point, which lies 1 to the right.
                guard let place = sight.tip else { continue }
                #expect(place.y == tip.y && (tip.x...tip.x + 1).contains(place.x), "seed \(seed), step \(step)")
            }
            pointed += tips.count
            // Each operation that the player has passed is told once, and none after a jump.
            var told: [UInt64] = []
            for action in page.actions[actions...] {
                switch action {
                case .joined: told = []
                case .applied(let operation, _, _): told.append(operation.index)
                case .restart(let why): Issue.record("\(why)")
                default: break
                }
            }
            #expect(told.isEmpty || told == Array(told[0]...expected.index))
            if !told.isEmpty { passed += 1 }
            #expect(expected.index != before || told.isEmpty)
            try page.fetch(random.int(0...3), from: &lesson, time: time)
            mostFetched = max(mostFetched, page.playout.fetched)
        }
        #expect(passed > 0 && pointed > 0)
        if limit == 1_000_000 {
            #expect(mostFetched == Int(lesson.recording.count))
            // From then on there are questions for more alone.
            let requests = try #require(page.requests)
            #expect(lesson.requests.dropFirst(requests).allSatisfy { $0.after == lesson.recording.count })
        } else {
            #expect(mostFetched < Int(lesson.recording.count))
            #expect(lesson.requests.contains { $0.from != nil })
        }
    }

    @Test(arguments: TestSeed.choose(2))
    func `is drawn with the pixels of the page drawn at once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var lesson = try Lesson(700, seed: seed)
        var page = Page(LessonPlayout(grows: false))
        _ = page.painter.resize(260, of: &page.playout, on: page.picture)
        for step in 0..<25 {
            let time = time(lesson, &random)
            try page.seek(time, in: &lesson)
            try page.fetch(1, from: &lesson, time: time)
            let board = try lesson.board(at: time, grows: false)
            let whole = Picture()
            whole.show(
                board.visible(on: board.pages.shown).map { Picture.Entry($0) }, width: board.size.width,
                height: board.size.height, pixels: 260,
                decoder: EntryDecoder(named: "smooth".utf8, palette: .standard))
            let isSame = page.draw() == whole.allPixels()
            #expect(isSame, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: [31, 32, 53] as [UInt64])
    func `has the boards of operations whose indexes lie around a power of two`(bits: UInt64) throws {
        let index: UInt64 = 1 << bits - 2
        var playout = LessonPlayout(grows: false)
        _ = playout.receive(GatewayEvent.lesson(after: index))
        while playout.isAdding { _ = playout.add { true } }
        #expect(playout.fetched == 3 && playout.last == index + 3)
        for passed in [3, 1, 2] {
            _ = playout.look(MediaTime(milliseconds: Int64(passed) * 1000 + 500))
            #expect(playout.board.index == index + UInt64(passed) && playout.board.visibleCount == passed)
        }
        // A gap lies between the parts: the cursor stays in the first one.
        let parts = try [0, index].map { try ReplayReply(decoding: GatewayEvent.lesson(after: $0)) }
        var replay = try LessonReplay(parts)
        replay.move(to: replay.index(before: .distantFuture))
        #expect(replay.entries.count == 3 && replay.board.index == 3)
    }

    @Test func `tells what authors are called, as far as it was fetched`() throws {
        var lesson = try Lesson(60, seed: 5)
        var page = Page(LessonPlayout())
        try page.seek(.distantFuture - 1, in: &lesson)
        let named = page.actions.compactMap { action in
            if case .named(let author, let name) = action { "\(author.text) \(name)" } else { nil }
        }
        #expect(named.contains { $0.hasPrefix("anna N") } && named.contains { $0.hasPrefix("ben N") })
    }

    @Test("begins anew where a reply is no lesson, contradicts it, or is of another life, and is then whole again")
    func faults() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var lesson = try Lesson(300, seed: seed)
        var other = try Lesson(300, seed: seed / 2, incarnation: "life-2")
        var page = Page(LessonPlayout())
        var restarts = 0
        for step in 0..<60 {
            let time = time(lesson, &random)
            try page.seek(time, in: &lesson)
            let board = try lesson.board(at: time, grows: true)
            #expect(page.playout.isThere && page.playout.board.digest == board.digest, "seed \(seed), step \(step)")
            page.look(self.time(lesson, &random))
            guard let request = page.playout.request(at: .seconds(step * 60)) else { continue }
            var reply = try lesson.reply(to: request)
            switch random.int(0...3) {
            case 0: reply = Array(reply.prefix(random.int(0...reply.count)))
            case 1:
                for _ in 0..<3 { reply[random.int(0...reply.count - 1)] = UInt8(random.int(32...126)) }
            case 2:
                var request = request
                request.incarnation = nil
                request.after = request.after.map { min($0, other.recording.count) }
                reply = try other.reply(to: request)
            default: break
            }
            let before = page.actions.count
            page.perform(page.playout.receive(reply))
            while page.playout.isAdding { page.perform(page.playout.add { true }) }
            let hasRestarted = page.actions[before...].contains { if case .restart = $0 { true } else { false } }
            if hasRestarted {
                restarts += 1
                #expect(!page.playout.hasBoard && page.playout.fetched == 0)
            } else {
                // What could not be told from the lesson is not in it for good.
                page.perform(page.playout.restart("for the next step"))
            }
        }
        #expect(restarts > 5)
    }

    @Test(arguments: [300, 3000]) func `keeps no more than its weight, whatever is played`(limit: Int) throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var lesson = try Lesson(1500, seed: seed)
        var page = Page(LessonPlayout(weightLimit: limit))
        for _ in 0..<80 {
            let time = time(lesson, &random)
            try page.seek(time, in: &lesson)
            #expect(page.playout.isThere)
            try page.fetch(4, from: &lesson, time: time)
            // What the player is at is kept in any case, up to the next board.
            #expect(page.playout.weight <= max(limit, 256 * 20))
        }
    }

    @Test(arguments: [20_000, 200_000])
    func `keeps no more bytes of boards that came with replies than it may`(limit: Int) throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        var lesson = try Lesson(1500, seed: seed)
        var recorded = RecordedLesson(grows: false, joinedByteLimit: limit)
        var most = 0
        for _ in 0..<100 {
            // Gaps are between them.
            let request = ReplayRequest(from: time(lesson, &random), limit: random.int(1...3))
            let reply = try ReplayReply(decoding: try lesson.reply(to: request))
            let board = try StudentBoard(try #require(reply.board))
            try recorded.begin(room: reply.room, epochs: reply.epochs, board: board)
            for entry in reply.operations { try recorded.add(entry) }
            most = max(most, recorded.joinedBytes)
            recorded.prune(around: board.index)
            // The one that the player is at is kept in any case.
            #expect(recorded.joinedBytes <= max(limit, board.byteEstimate), "seed \(seed)")
            #expect(recorded.board(at: board.index)?.digest == board.digest)
        }
        #expect(most > limit)
    }
}
