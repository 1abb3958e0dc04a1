import StrokeWire
import Testing
import Whiteboard

/// Rules 3 and 9: extrapolation and states.
@Suite struct `Clock states` {
    private var room = VirtualRoom()

    @Test func `A clock with slow samples is believed for three intervals, of at most 10 s each`() throws {
        for (interval, believed) in [(0.5, 2.0), (3, 9), (10, 30), (60, 30)] {
            var room = VirtualRoom(.init(policy: .hold))
            try room.sample(0)
            room.wait(.seconds(interval))
            try room.sample(interval * 1000)
            #expect(room.after(.seconds(100)).video() == (interval + believed) * 1000)
        }
    }

    @Test mutating func `Playing on cancels a pause, and another pause starts its time again`() throws {
        try room.sample(9000, s: .pause)
        room.log(9000)
        room.wait(.milliseconds(400))
        try room.sample(8500)
        try room.sample(8999, s: .pause)
        #expect(room.after(.seconds(1)).shown() == [])
        #expect(room.video() == 9000)
    }

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

    @Test func `At rate 0 there is no wake-up`() throws {
        var room = VirtualRoom(.init(policy: .hold))
        try room.sample(1000, r: 0)
        room.log(1000)
        #expect(room.gate.nextRelease(after: room.now) == nil)
    }

    @Test func `Playing on cancels the end; what belongs to a newer epoch is not released by it`() throws {
        var room = VirtualRoom(.init(policy: .hold))
        try room.sample(1000, ep: 0, s: .end)
        try room.sample(1000, .hls, ep: 0, s: .end)
        room.log(5000)
        room.wait(.seconds(1))
        try room.sample(0, ep: 1)
        room.log(50_000)
        #expect(room.after(.seconds(60)).shown() == [1])
        #expect(room.shown(.hls) == [1])
        try room.sample(1000, ep: 1, s: .end, d: true)
        room.wait(.milliseconds(1900))
        try room.sample(1000, ep: 1)
        #expect(room.after(.seconds(60)).shown() == [1])
    }
}

/// Rules 4, 5 and 14: which samples are believed.
@Suite struct `Clock guard` {
    private var room = VirtualRoom()

    @Test mutating func `6: a sample whose number is not greater is ignored while the clock is live`() throws {
        #expect(try room.sample(1000, q: 7) == .taken)
        room.wait(.milliseconds(100))
        #expect(try room.sample(900, q: 6) == .ignored(.repeated))
        #expect(try room.sample(900, q: 7) == .ignored(.repeated))
        #expect(room.video() == 1100)
        room.wait(.milliseconds(1901))
        #expect(try room.sample(3000, q: 1) == .taken)
    }

    @Test func `A step back of exactly 1 s is taken, a microsecond more is not`() throws {
        for (media, outcome) in [(4000, ClockOutcome.taken), (3999.999, .candidate)] {
            var room = VirtualRoom()
            try room.sample(5000)
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test func `A step of exactly 5 s ahead is taken, a microsecond more is not`() throws {
        for (media, outcome) in [(10_000, ClockOutcome.taken), (10_000.001, .candidate)] {
            var room = VirtualRoom()
            try room.sample(5000)
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test mutating func `Samples that agree neither with the clock nor with each other never count`() throws {
        try room.sample(1000)
        for media in [61_000.0, 71_000, 81_000, 30_000, 28_999, 61_000] {
            #expect(try room.sample(media) == .candidate)
        }
        #expect(room.video() == 1000)
        #expect(try room.sample(62_000) == .taken)
    }

    @Test mutating func `A sample that comes twice does not confirm itself`() throws {
        try room.sample(1000, q: 1)
        #expect(try room.sample(61_000, q: 2) == .candidate)
        #expect(try room.sample(61_000, q: 2) == .ignored(.repeated))
        room.wait(.seconds(3))
        #expect(try room.sample(61_000, q: 2) == .ignored(.repeated))
        #expect(try room.sample(64_000, q: 3) == .taken)
    }

    @Test mutating func `A stray sample's number does not shut out those that follow`() throws {
        try room.sample(1000, q: 1)
        #expect(try room.sample(61_000, q: 1_000_000) == .candidate)
        #expect(try room.sample(1000, q: 2) == .taken)
        #expect(try room.sample(1000, q: 3) == .taken)
    }

    @Test mutating func `30: one stray sample 5 s low is ignored, two that agree are not`() throws {
        try room.sample(10_000)
        room.wait(.milliseconds(250))
        #expect(try room.sample(5250) == .candidate)
        #expect(room.video() == 10_250)
        #expect(try room.sample(10_250) == .taken)
        #expect(try room.sample(5250) == .candidate)
        room.wait(.milliseconds(250))
        #expect(try room.sample(5500) == .taken)
        #expect(room.video() == 5500)
        #expect(room.gate.epoch == nil)
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

    @Test mutating func `After a silence the prediction is what the next sample is measured by`() throws {
        try room.sample(0)
        #expect(room.after(.seconds(60)).video() == 2000)
        #expect(try room.sample(65_001) == .candidate)
        #expect(try room.sample(58_000) == .taken)
        #expect(room.video() == 58_000)
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
    @Test func `19: a counter that wraps at 32 bits goes on`() throws {
        let period = Double(1 << 32)
        var room = VirtualRoom()
        try room.sample(period - 100, b: 32)
        room.log(1 << 32 + 20)
        #expect(room.after(.milliseconds(110)).shown() == [])
        #expect(try room.sample(50, b: 32) == .taken)
        #expect(room.video() == period + 50)
        #expect(room.shown() == [1])
        #expect(try room.sample(period - 100, b: 32) == .taken)
        #expect(room.video() == period - 100)
    }

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
