import ClientCore
import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct `A recorded lesson, whatever a service sends` {
    /// Parts of a lesson as JSON.
    private func parts(seed: UInt64) throws -> [[UInt8]] {
        var room = RandomRoom(RandomRoom.history(seed), seed: seed)
        var recording = RecordedRoom(configuration: RoomConfiguration())
        let author = try #require(AuthorID("ann"))
        while room.operations.count < 400 { room.act() }
        for (place, operation) in room.operations.enumerated() {
            let at = Instant(nanoseconds: Int64(place) * 10_000_000)
            recording.receive(
                IncomingMessage(author: author, session: nil, bytes: operation.bytes, loggedAt: at),
                incarnation: { "life-1" })
        }
        recording.computeTimes()
        var request = ReplayRequest(limit: 90)
        var parts: [[UInt8]] = []
        repeat {
            let page = try #require(recording.page(request, through: recording.count))
            let bytes = page.encoded(palette: .standard, style: "smooth")
            parts.append(bytes)
            request.after = try ReplayReply(decoding: bytes).next
        } while request.after != nil
        return parts
    }

    @Test(arguments: TestSeed.choose(6)) func `is refused, or moves to any place`(seed: UInt64) throws {
        let parts = try parts(seed: seed)
        var bytes = HostileCalls(seed: seed)
        var random = TestSupport.SeededGenerator(seed: seed)
        var whole = 0
        for _ in 0..<200 {
            var fetch = LessonFetch()
            for part in parts {
                guard let reply = try? ReplayReply(decoding: random.chance(1, in: 4) ? bytes.changed(part) : part)
                else {
                    continue
                }
                try? fetch.receive(reply, bytes: part.count)
            }
            guard var lesson = try? fetch.lesson() else { continue }
            whole += 1
            for _ in 0..<20 {
                let time = MediaTime(microseconds: random.pick([.min, -1, 0, 1_000_000, 1 << 53, .max]))
                let epoch: Int64? = random.pick([nil, 0, 1, -1, .max, .min])
                let place =
                    random.chance(1, in: 2)
                    ? lesson.index(before: time, epoch: epoch) : random.int(0...lesson.entries.count)
                lesson.move(to: place)
                #expect(lesson.board.index == UInt64(place), "seed \(seed)")
            }
        }
        #expect(whole > 0)
    }
}
