import StrokeWire
import Testing
import Whiteboard

/// Rules 3, 8, 9 and 10: extrapolation, wrap, states, and waiting too long.
@Suite("Clock states and policies")
struct ClockStateTests {
    @Test("13: without samples for 1.5 s the release goes on")
    func extrapolation() throws {
        var room = VirtualRoom()
        try room.sample(1000)
        room.log(2400)
        room.wait(.milliseconds(1400))
        #expect(room.shown() == [])
        room.wait(.milliseconds(100))
        #expect(room.shown() == [1])
    }

    @Test("14: without samples the clock stands after 2 s; a stroke goes out late at the age of 30 s")
    func silence() throws {
        var room = VirtualRoom()
        try room.sample(1000)
        room.log(2999, 3000)
        room.wait(.seconds(2))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
        room.wait(.seconds(28) - .nanoseconds(1))
        #expect(room.video() == 3000)
        #expect(room.shown() == [1])
        room.wait(.nanoseconds(1))
        #expect(room.shown() == [1, 2])
        #expect(room.late() == [2])
    }

    @Test("A clock with slow samples is believed for three intervals, of at most 10 s each")
    func slowSamples() throws {
        for (interval, believed) in [(0.5, 2.0), (3, 9), (10, 30), (60, 30)] {
            var room = VirtualRoom(.init(policy: .hold))
            try room.sample(0)
            room.wait(.seconds(interval))
            try room.sample(interval * 1000)
            room.wait(.seconds(100))
            #expect(room.video() == (interval + believed) * 1000)
        }
    }

    @Test("15: policy hold without any clock never releases", arguments: [CohortSettings.Policy.hold, .freerun])
    func hold(policy: CohortSettings.Policy) throws {
        var room = VirtualRoom(.init(policy: policy))
        room.log(1000, nil)
        room.wait(.seconds(100_000))
        #expect(room.shown() == [])
        #expect(room.gate.released(to: .main) == 0)
        #expect(room.gate.heldCount(of: .main) == 2)
        #expect(room.gate.clockCondition(of: .main, at: room.now) == .unknown)
    }

    @Test("16: ink drawn on a paused picture appears after 500 ms; repeats do not start the time again")
    func pause() throws {
        var room = VirtualRoom()
        try room.sample(9000, s: .pause)
        room.log(9000, 9001)
        room.wait(.milliseconds(250))
        try room.sample(9000, s: .pause)
        room.wait(.milliseconds(249))
        #expect(room.shown() == [])
        room.wait(.milliseconds(1))
        #expect(room.shown() == [1])
        #expect(room.video() == 9001)
        try room.sample(9000)
        room.wait(.milliseconds(2))
        #expect(room.shown() == [1, 2])
    }

    @Test("Playing on cancels a pause, and another pause starts its time again")
    func pauseCancelled() throws {
        var room = VirtualRoom()
        try room.sample(9000, s: .pause)
        room.log(9000)
        room.wait(.milliseconds(400))
        try room.sample(8500)
        try room.sample(8999, s: .pause)
        room.wait(.seconds(1))
        #expect(room.shown() == [])
        #expect(room.video() == 9000)
    }

    @Test("17: ink drawn on a stalled picture waits for the picture to go on")
    func stall() throws {
        var room = VirtualRoom()
        try room.sample(9000, s: .stall)
        room.log(9000)
        for _ in 0..<160 {
            room.wait(.milliseconds(250))
            try room.sample(9000, s: .stall)
        }
        #expect(room.shown() == [])
        try room.sample(9000)
        #expect(room.late() == [1], "it had waited longer than it may, and no live stall excuses it any more")
    }

    @Test("A stall excuses waiting only while its clock is live")
    func deadStall() throws {
        var room = VirtualRoom()
        room.log(9000)
        room.wait(.seconds(29))
        try room.sample(9000, s: .stall)
        room.wait(.seconds(2))
        #expect(room.shown() == [])
        room.wait(.nanoseconds(1))
        #expect(room.late() == [1])
    }

    @Test("18: at half the rate an operation 1 s ahead is due in 2 s")
    func rate() throws {
        var room = VirtualRoom(.init(staleAfter: .seconds(5)))
        try room.sample(1000, r: 500)
        room.log(2000)
        room.wait(.seconds(2))
        #expect(room.shown() == [])
        room.wait(.microseconds(2))
        #expect(room.shown() == [1])
    }

    @Test("At rate 0 there is no wake-up")
    func rateZero() throws {
        var room = VirtualRoom(.init(policy: .hold))
        try room.sample(1000, r: 0)
        room.log(1000)
        #expect(room.gate.nextRelease(after: room.now) == nil)
    }

    @Test("19: a counter that wraps at 32 bits goes on")
    func wrap() throws {
        let period = Double(1 << 32)
        var room = VirtualRoom()
        try room.sample(period - 100, b: 32)
        room.log(1 << 32 + 20)
        room.wait(.milliseconds(110))
        #expect(room.shown() == [])
        #expect(try room.sample(50, b: 32) == .taken)
        #expect(room.video() == period + 50)
        #expect(room.shown() == [1])
        #expect(try room.sample(period - 100, b: 32) == .taken)
        #expect(room.video() == period - 100)
    }

    @Test("The first reading of a counter is taken near the head operation, else as it is")
    func wrapWithoutPrediction() throws {
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

    @Test("27: 2 s after the end all ten pending ones go out in order, not late")
    func end() throws {
        var room = VirtualRoom()
        try room.sample(1000)
        for time in 1...10 { room.log(Int64(time) * 10_000) }
        try room.sample(1000, s: .end)
        room.wait(.milliseconds(1999))
        try room.sample(1000, s: .end)
        #expect(room.shown() == [])
        room.wait(.milliseconds(1))
        #expect(room.shown() == Array(1...10))
        #expect(room.late() == [])
        room.log(90_000)
        #expect(room.shown().count == 11)
    }

    @Test("Playing on cancels the end; what belongs to a newer epoch is not released by it")
    func endCancelled() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom(.init(policy: .hold))
        try room.sample(1000, ep: 0, s: .end)
        try room.sample(1000, hls, ep: 0, s: .end)
        room.log(5000)
        room.wait(.seconds(1))
        try room.sample(0, ep: 1)
        room.log(50_000)
        room.wait(.seconds(60))
        #expect(room.shown() == [1])
        #expect(room.shown(hls) == [1])
        try room.sample(1000, ep: 1, s: .end, d: true)
        room.wait(.milliseconds(1900))
        try room.sample(1000, ep: 1)
        room.wait(.seconds(60))
        #expect(room.shown() == [1])
    }

    @Test("Without extrapolation the last sample is what counts")
    func literalRule() throws {
        var room = VirtualRoom(.init(policy: .hold, extrapolate: false))
        try room.sample(1000)
        room.log(1100)
        room.wait(.seconds(1))
        #expect(room.shown() == [])
        try room.sample(2000)
        #expect(room.shown() == [1])
    }

    @Test("A free-running clock never stands")
    func freerun() throws {
        var room = VirtualRoom(.init(policy: .freerun))
        try room.sample(0)
        room.log(50_000)
        room.wait(.seconds(50))
        #expect(room.shown() == [])
        room.wait(.microseconds(1))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
    }

    @Test("Without a gate operations go out at once")
    func ungated() {
        var room = VirtualRoom(.init(gate: .none))
        room.log(50_000, nil, .max)
        #expect(room.shown() == [1, 2, 3])
        #expect(room.late() == [])
    }
}
