import LecternClient
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct LessonReplayTests {
    /// The lesson as the service's journal tells it.
    private func recording(_ lesson: SampleLesson) throws -> RecordedRoom {
        var recording = RecordedRoom(configuration: RoomConfiguration())
        let author = try #require(AuthorID("ann"))
        for (place, bytes) in try lesson.messages().enumerated() {
            let at = Instant(nanoseconds: Int64(place) * 10_000_000)
            recording.receive(
                IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: at), incarnation: { "life-1" })
        }
        recording.computeTimes()
        return recording
    }

    private func parts(of recording: RecordedRoom, _ limit: Int) throws -> [ReplayReply] {
        var request = ReplayRequest(limit: limit)
        var parts: [ReplayReply] = []
        repeat {
            let page = try #require(recording.page(request, through: recording.count))
            parts.append(try ReplayReply(decoding: page.encoded(palette: .standard, style: "smooth")))
            request.after = parts.last?.next
        } while request.after != nil
        return parts
    }

    @Test(arguments: TestSeed.choose(3))
    func `a player that seeks in both directions sees the boards of the class`(seed: UInt64) throws {
        var random = TestSupport.SeededGenerator(seed: seed)
        let recording = try recording(try #require(SampleLesson.available.first))
        #expect(recording.count > 50)
        var replay = try LessonReplay(try parts(of: recording, random.int(7...90)))
        #expect(replay.entries.count == Int(recording.count) && replay.room == "life-1")
        let end = try #require(replay.epochs.last?.to)
        for _ in 0..<200 {
            let time = MediaTime(microseconds: Int64(random.int(-1...Int(end.microseconds) + 2)))
            let index = replay.index(before: time)
            #expect(UInt64(index) == recording.index(before: time), "seed \(seed)")
            let before = Int(replay.board.index)
            let passed = replay.move(to: index)
            #expect(replay.board.index == UInt64(index))
            #expect(replay.board.digest == recording.board(at: UInt64(index)).digest, "seed \(seed), \(index)")
            if let passed { #expect(passed.map(\.operation.index) == (before..<index).map { UInt64($0 + 1) }) }
            if index < before { #expect(passed == nil) }
        }
    }

    @Test func `parts that are not of one lesson from its beginning are refused`() throws {
        let parts = try parts(of: try recording(try #require(SampleLesson.available.first)), 20)
        #expect(throws: MalformedRelease.self) { try LessonReplay([]) }
        #expect(throws: MalformedRelease.self) { try LessonReplay(Array(parts.dropFirst())) }
        var other = parts
        other[1].room = "another"
        #expect(throws: MalformedRelease.self) { try LessonReplay(other) }
        #expect(throws: MalformedRelease.self) { try LessonReplay([parts[0]] + parts.dropFirst(2)) }
    }

    @Test func `a lesson that comes in parts is whole, and parts that bring it no farther are refused`() throws {
        let parts = try parts(of: try recording(try #require(SampleLesson.available.first)), 20)
        var fetch = LessonFetch()
        for part in parts {
            #expect(fetch.request?.after == (part == parts[0] ? nil : UInt64(fetch.fetched)))
            let before = fetch.request
            var other = part
            other.next = fetch.request?.after ?? 0
            #expect(throws: MalformedRelease.self) { try fetch.receive(other, bytes: 1000) }
            (other.next, other.operations) = (UInt64.max, [])
            #expect(throws: MalformedRelease.self) { try fetch.receive(other, bytes: 1000) }
            #expect(fetch.request == before)
            try fetch.receive(part, bytes: 1000)
        }
        #expect(fetch.request == nil && UInt64(fetch.fetched) == fetch.all)
        #expect(try fetch.lesson().entries.count == fetch.fetched)
    }
}
