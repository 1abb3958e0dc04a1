import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `A recorded room` {
    private var probe = RoomProbe()

    private func record(_ probe: RoomProbe) -> RecordedRoom {
        var recording = RecordedRoom(configuration: probe.room.configuration)
        for (at, input) in probe.inputs {
            switch input {
            case .message(let author, let session, let bytes):
                recording.receive(
                    IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: at),
                    incarnation: { RoomProbe.incarnation })
            case .record(let record): recording.receive(record, loggedAt: at)
            default: break
            }
        }
        recording.computeTimes()
        return recording
    }

    private func draw(_ number: Int64, t: Int64?, end: Int = 0) -> String {
        let time = t.map { ",\"t\":\($0)" } ?? ""
        return #"{"n":\#(number)\#(time),"d":[{"x":1,"y":2,"m":0},{"x":3,"y":4,"m":\#(end)}]}"#
    }

    @Test(arguments: TestSeed.choose(20))
    func `has the boards of the class, and its cursor stands where the students' did`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = HistoryConfiguration.random(depth: 1...20, using: &random)
        let growing = try #require(CohortName("growing"))
        var probe = RoomProbe(
            RoomConfiguration(
                history: history,
                cohorts: CohortsConfiguration(
                    defaults: CohortSettings(policy: .hold),
                    named: [growing: CohortSettings(policy: .hold, ink: .progressive)])))
        var looks = [BoardLook(probe.room.head)]
        var cursors: [(time: Double, main: UInt64, growing: UInt64)] = []
        var numbers: [AuthorID: Int64] = [:]
        for step in 1...random.int(50...700) {
            let time = Int64(step * 10 - random.int(0...40))
            let author = random.chance(50, in: 100) ? AuthorID.alice : .bob
            let number = numbers[author, default: 0] + 1
            numbers[author] = number
            let text =
                switch random.int(0..<10) {
                case 0, 1: #"{"n":\#(number),"a":2,"t":\#(time)}"#
                case 2: #"{"n":\#(number),"a":3,"t":\#(time)}"#
                case 3 where random.chance(20, in: 100): #"{"n":\#(number),"a":4,"t":\#(time)}"#
                default: draw(number, t: random.chance(95, in: 100) ? time : nil, end: random.int(0...90))
                }
            probe.send(text, by: author)
            if probe.room.head.index == UInt64(looks.count) { looks.append(BoardLook(probe.room.head)) }
            probe.wait(.milliseconds(10))
        }
        for step in 0...80 {
            let time = Double(step) * 100
            for cohort in [.main, growing] { probe.clock(time, cohort) }
            cursors.append((time, UInt64(probe.shown(.main).count), UInt64(probe.shown(growing).count)))
            probe.wait(.milliseconds(100))
        }

        let recording = record(probe)
        try #require(recording.count == probe.room.head.index && looks.count == Int(recording.count) + 1)
        for index in (0...Int(recording.count)).shuffled(using: &random) {
            let version = recording.board(at: UInt64(index))
            #expect(BoardLook(version.board) == looks[index], "seed \(seed), \(index)")
            #expect(version.index == UInt64(index) && version.digest == looks[index].digest)
        }
        for cursor in cursors {
            let time = try #require(MediaTime(milliseconds: cursor.time))
            #expect(recording.index(before: time) == cursor.main, "seed \(seed), \(cursor.time) ms")
            let grown = recording.operations(after: 0, through: recording.count).prefix { $0.time.endTime < time }
            #expect(UInt64(grown.count) == cursor.growing, "seed \(seed), \(cursor.time) ms")
        }
    }

    /// Of the boards that are kept, each has the table of its pages.
    @Test(arguments: [1, 1000]) func `counts the pages of its boards`(pages: Int) {
        var recording = RecordedRoom(configuration: RoomConfiguration())
        for number in 1...4000 {
            let text = #"{"n":\#(number),"t":\#(number),"g":\#(number % pages),"d":[{"x":1,"y":2}]}"#
            recording.receive(
                IncomingMessage(
                    author: .alice, session: nil, bytes: Array(text.utf8),
                    loggedAt: Instant(nanoseconds: Int64(number) * 10_000_000)),
                incarnation: { RoomProbe.incarnation })
        }
        #expect(recording.count == 4000)
        // 4,000 operations, and 62 boards with 2,000 strokes on the average; 46 of the boards have all pages.
        #expect(recording.byteEstimate > 4000 * 96 + 62 * 2000 * 16 + 46 * pages * 100)
    }

    @Test mutating func `comes in pages that join to the whole`() throws {
        for number in Int64(1)...25 { probe.send(draw(number, t: number * 100)) }
        let recording = record(probe)
        func reply(_ request: ReplayRequest, through last: UInt64 = .max) throws -> ReplayReply {
            let page = try #require(recording.page(ReplayRequest(decoding: request.encoded()), through: last))
            return try ReplayReply(decoding: page.encoded(palette: .standard, style: "smooth"))
        }
        var request = ReplayRequest(from: MediaTime(milliseconds: 501), to: MediaTime(milliseconds: 2000), limit: 6)
        var replies = [try reply(request)]
        while let next = replies.last?.next {
            request.after = next
            replies.append(try reply(request))
        }
        #expect(replies.map { $0.board?.index } == [5, nil, nil])
        #expect(replies.flatMap { $0.operations.map(\.operation.index) } == Array(6...20))
        #expect(replies[0].operations.first?.gateTime == MediaTime(milliseconds: 600))
        #expect(replies[0].epochs.map(\.indices) == [1...25])
        #expect(replies[0].epochs.first?.to == MediaTime(milliseconds: 2500))

        // Nothing beyond what may be seen, not even a time.
        let limited = try reply(ReplayRequest(), through: 7)
        #expect(limited.operations.map(\.operation.index) == Array(1...7) && limited.next == nil)
        #expect(limited.epochs.first?.to == MediaTime(milliseconds: 700) && limited.epochs.first?.indices == 1...7)
        #expect(try reply(ReplayRequest(from: MediaTime(milliseconds: 9000)), through: 7).board?.index == 7)
        #expect(recording.page(ReplayRequest(incarnation: "another"), through: 25) == nil)
    }

    @Test(arguments: [.max, 1 << 62, 1 << 53 + 1, -9_100_000_000_000_000] as [Int64])
    mutating func `is read by clients whatever times its strokes have`(_ time: Int64) throws {
        probe.send(draw(1, t: time))
        probe.send(draw(2, t: time, end: 1000))
        let page = try #require(record(probe).page(ReplayRequest(), through: 2))
        let reply = try ReplayReply(decoding: page.encoded(palette: .standard, style: "smooth"))
        let bound = MediaTime(milliseconds: time > 0 ? 1 << 53 : -(1 << 53))
        #expect(reply.operations.map(\.gateTime) == [bound, bound])
        #expect(reply.epochs.map(\.to) == [bound])
    }

    @Test mutating func `passes over times that lie absurdly ahead, and follows a time line that jumps`() {
        for number in Int64(1)...10 {
            probe.send(draw(number, t: number == 4 ? 1_000_000_000 : number * 100))
            probe.wait(.milliseconds(100))
        }
        for number in Int64(11)...30 {
            probe.send(draw(number, t: 600_000 + number * 100))
            probe.wait(.milliseconds(100))
        }
        let recording = record(probe)
        #expect(recording.index(before: MediaTime(milliseconds: 350)) == 4)
        #expect(recording.index(before: MediaTime(milliseconds: 5000)) == 10)
        #expect(recording.index(before: MediaTime(milliseconds: 601_101)) == 11)
    }

    @Test mutating func `has a time line for each encoder session`() {
        for number in Int64(1)...5 { probe.send(draw(number, t: number * 1000)) }
        probe.record(.epoch(3))
        probe.send(draw(6, t: 6000))
        probe.record(.epoch(4))
        probe.wait(.seconds(6))
        for number in Int64(7)...9 { probe.send(draw(number, t: (number - 6) * 1000)) }
        let recording = record(probe)
        #expect(recording.epochs.map(\.number) == [3, 4])
        #expect(recording.epochs.map(\.indices) == [1...6, 7...9])
        #expect(recording.index(before: MediaTime(milliseconds: 2001), epoch: 3) == 2)
        #expect(recording.index(before: MediaTime(milliseconds: 60_000), epoch: 3) == 6)
        #expect(recording.index(before: MediaTime(milliseconds: 2001), epoch: 4) == 8)
        #expect(recording.index(before: MediaTime(milliseconds: 2001)) == 8)
    }

    @Test
    mutating func `is asked about the last time line that may be seen, not of one that nobody has seen yet`() throws {
        for number in Int64(1)...5 { probe.send(draw(number, t: number * 1000)) }
        probe.record(.epoch(3))
        probe.record(.epoch(4))
        probe.wait(.seconds(6))
        for number in Int64(6)...9 { probe.send(draw(number, t: (number - 5) * 1000)) }
        let recording = record(probe)
        func start(through last: UInt64) throws -> UInt64? {
            let page = try #require(recording.page(ReplayRequest(from: MediaTime(milliseconds: 2500)), through: last))
            return try ReplayReply(decoding: page.encoded(palette: .standard, style: "smooth")).board?.index
        }
        #expect(try start(through: 4) == 2)
        #expect(try start(through: 9) == 7)
    }

    @Test mutating func `tells of a time line what may be seen of it, also where a straggler follows`() throws {
        for number in Int64(1)...5 { probe.send(draw(number, t: 100_000 + number * 1000)) }
        probe.record(.epoch(3))
        probe.record(.epoch(4))
        // Without a time it is of the new time line, and the one after it still of the old.
        probe.send(draw(6, t: nil), draw(7, t: 105_500))
        for number in Int64(8)...10 { probe.send(draw(number, t: number * 100)) }
        let recording = record(probe)
        #expect(recording.epochs.map(\.indices) == [1...7, 6...10])
        let page = try #require(recording.page(ReplayRequest(), through: 6))
        let epochs = try ReplayReply(decoding: page.encoded(palette: .standard, style: "smooth")).epochs
        #expect(epochs.map(\.indices) == [1...5, 6...6])
        #expect(epochs.map(\.from) == [MediaTime(milliseconds: 101_000), nil])
        #expect(epochs.map(\.to) == [MediaTime(milliseconds: 105_000), nil])
    }

    @Test mutating func `knows the size of a board without making the board`() {
        probe.send(
            #"{"n":1,"e":7,"w":100,"h":50,"d":[{"x":1,"y":2}]}"#, #"{"n":2,"w":400,"h":300,"d":[{"x":1,"y":2}]}"#,
            #"{"n":3,"w":800,"h":900,"d":[{"x":1,"y":2}]}"#)
        let recording = record(probe)
        for index in 0...recording.count {
            let version = recording.board(at: index)
            #expect(version.size == version.board.size, "\(index)")
        }
        #expect(recording.board(at: 0).size == .standard)
        #expect(recording.board(at: recording.count).size == BoardSize(width: 400, height: 300))
    }

    @Test mutating func `begins anew where the room's life ends`() {
        probe.send(draw(1, t: 1))
        probe.record(.close)
        probe.send(draw(1, t: 7), draw(2, t: 8))
        let recording = record(probe)
        #expect(recording.count == 2)
        #expect(recording.board(at: 2).digest == probe.room.head.digest)
    }
}
