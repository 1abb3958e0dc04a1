import StrokeWire
import Testing
import Whiteboard

/// Rules 3 and 9: extrapolation and states.
@Suite struct `Clock states` {
    @Test(arguments: [1, 3, 333, 1337, 1999])
    func `The wake-up is the very first nanosecond at which the video has passed`(rate: Int) throws {
        var room = VirtualRoom(.init(policy: .freerun))
        try room.sample(0.123, r: rate)
        room.log(7)
        let wake = try #require(room.gate.nextRelease(after: room.now))
        let before = Instant(nanoseconds: wake.nanoseconds - 1)
        let gateTime = MediaTime(microseconds: 7000)
        #expect(try #require(room.gate.videoTime(of: .main, at: wake)) > gateTime)
        #expect(try #require(room.gate.videoTime(of: .main, at: before)) <= gateTime)
    }
}

/// Rules 4, 5 and 14: which samples are believed.
@Suite struct `Clock guard` {
    private var room = VirtualRoom()

    @Test func `A step of exactly 1 s back or 5 s ahead is taken, a microsecond more is not`() throws {
        for (media, outcome) in [
            (4000, ClockOutcome.taken), (3999.999, .candidate), (10_000, .taken), (10_000.001, .candidate),
        ] {
            var room = VirtualRoom()
            try room.sample(5000)
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test mutating func `A stray sample's number does not shut out those that follow`() throws {
        try room.sample(1000, q: 1)
        #expect(try room.sample(61_000, q: 1_000_000) == .candidate)
        #expect(try room.sample(1000, q: 2) == .taken)
        #expect(try room.sample(1000, q: 3) == .taken)
    }

    @Test
    func `A second sample agrees within 1 s of what the first predicts, by its rate and state, no farther`() throws {
        for (media, outcome) in [(61_500, ClockOutcome.taken), (61_500.001, .candidate), (59_499.999, .candidate)] {
            var room = VirtualRoom()
            try room.sample(1000)
            #expect(try room.sample(60_000, r: 500) == .candidate)
            room.wait(.seconds(1))
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test mutating func `A stream that takes over counts its samples anew`() throws {
        try room.sample(1000, q: 50, st: "a")
        room.wait(.seconds(2.5))
        #expect(try room.sample(3500, st: "b") == .taken)
        #expect(try room.sample(3500, q: 1, st: "b") == .taken)
        #expect(try room.sample(3500, st: "b") == .taken)
        #expect(try room.sample(3500, q: 1, st: "b") == .ignored(.repeated))
    }

    @Test("Another stream is ignored while the clock is live and taken over by the guard's rules when it is stale")
    mutating func streams() throws {
        #expect(try room.sample(1000, q: 50, st: "a") == .taken)
        #expect(try room.sample(1000, st: "b", d: true) == .ignored(.otherStream))
        room.wait(.seconds(2))
        #expect(try room.sample(3000, q: 1, ep: 9, st: "b") == .ignored(.otherStream))
        room.wait(.nanoseconds(1))
        #expect(try room.sample(90_000, st: "b") == .candidate)
        #expect(try room.sample(3000, q: 1, st: "b") == .taken)
        #expect(try room.sample(3000, q: 51, st: "a") == .ignored(.otherStream))
        #expect(try room.sample(3000, q: 2, st: "b") == .taken)
    }
}

/// Rule 8: counters that begin again at 0.
@Suite("Wrap")
struct WrapTests {
    @Test func `The first reading of a counter is taken near the head operation, else as it is`() throws {
        let period = Int64(1) << 33
        for (times, expected) in [
            ([nil, 5 * period - 300], Double(5 * period - 400)), ([-50], -400), ([nil], Double(period - 400)),
            ([], Double(period - 400)),
        ] as [([Int64?], Double)] {
            var room = VirtualRoom()
            for time in times { room.log(time) }
            try room.sample(Double(period - 400), b: 33)
            #expect(room.video() == expected)
        }
    }
}
