import StrokeWire
import Testing
import Whiteboard

/// Rules 3 and 9: extrapolation and states.
@Suite("Clock states")
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

    @Test("The wake-up is the very first nanosecond at which the video has passed", arguments: [1, 3, 333, 1337, 1999])
    func firstNanosecond(rate: Int) throws {
        var room = VirtualRoom(.init(policy: .freerun))
        try room.sample(0.123, r: rate)
        room.log(7)
        let wake = try #require(room.gate.nextRelease(after: room.now))
        let before = Instant(nanoseconds: wake.nanoseconds - 1)
        let gateTime = MediaTime(microseconds: 7000)
        #expect(try #require(room.gate.videoTime(of: .main, at: wake)) > gateTime)
        #expect(try #require(room.gate.videoTime(of: .main, at: before)) <= gateTime)
    }

    @Test("At rate 0 there is no wake-up")
    func rateZero() throws {
        var room = VirtualRoom(.init(policy: .hold))
        try room.sample(1000, r: 0)
        room.log(1000)
        #expect(room.gate.nextRelease(after: room.now) == nil)
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
}
