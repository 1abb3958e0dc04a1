import StrokeWire
import Testing
import Whiteboard

/// Rule 6: operations of an epoch that come after its end.
@Suite("Stragglers")
struct StragglerTests {
    @Test("A straggler of the old epoch does not hold up the new one")
    func straggler() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(60_000, ep: 0)
        try room.sample(50_000, hls, ep: 0)
        try room.sample(0, ep: 1)
        room.log(60_900, 100)
        #expect(room.shown() == [1])
        room.wait(.milliseconds(101))
        #expect(room.shown() == [1, 2])
        #expect(room.shown(hls) == [])
        try room.sample(0, hls, ep: 1)
        #expect(room.shown(hls) == [1])
        room.wait(.milliseconds(101))
        #expect(room.shown(hls) == [1, 2])
    }

    @Test("A straggler is shown to a cohort that is still in the old epoch by the old clock")
    func stragglerInOldEpoch() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(60_000, ep: 0)
        try room.sample(59_000, hls, ep: 0)
        try room.sample(0, ep: 1)
        room.log(59_500)
        room.wait(.milliseconds(500))
        #expect(room.shown(hls) == [])
        room.wait(.milliseconds(1))
        #expect(room.shown(hls) == [1])
    }

    @Test("What is too far above the old epoch, or comes too late, or too near the new clock, is no straggler")
    func noStraggler() throws {
        func isStraggler(_ time: Int64, after delay: Duration) throws -> Bool {
            var room = VirtualRoom()
            try room.sample(30_000, ep: 0)
            try room.sample(0, r: 0)
            try room.sample(0, ep: 1, r: 0)
            room.wait(delay)
            room.log(time)
            return room.shown() == [1]
        }
        #expect(try isStraggler(31_000, after: .seconds(5)))
        #expect(try !isStraggler(31_001, after: .zero))
        #expect(try !isStraggler(31_000, after: .seconds(5) + .nanoseconds(1)))
        #expect(try isStraggler(10_001, after: .zero))
        #expect(try !isStraggler(10_000, after: .zero))
    }

    @Test("Too late is counted from when the epoch was logged, not from when this daemon read the log")
    func readLater() throws {
        func isStraggler(readAfter delay: Duration) throws -> Bool {
            var room = VirtualRoom()
            try room.sample(30_000, ep: 0)
            let logged = room.now
            room.wait(delay)
            room.change { gate, now, _ in gate.beginEpoch(1, at: logged, now: now) }
            try room.sample(0, ep: 1, r: 0)
            room.log(30_500)
            return room.shown() == [1]
        }
        #expect(try isStraggler(readAfter: .seconds(5)))
        #expect(try !isStraggler(readAfter: .seconds(5) + .nanoseconds(1)))
    }
}
