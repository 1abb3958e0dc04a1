import StrokeWire
import Testing
import Whiteboard

/// Rules 1, 2, 3 and 7: log order, gate times, strictness.
@Suite struct `Gate times` {
    @Test
    func `A time exactly 60 s ahead of the clock and of the anchor is believed, a millisecond more is not`() throws {
        // The anchor is at 24 s and 2 s old, or at 31 s.
        let cases: [(anchor: Int64, time: Int64, clamped: Int)] = [
            (24_000, 90_000, 0), (24_000, 90_001, 1), (31_000, 93_000, 0), (31_000, 93_001, 1),
        ]
        for (anchor, time, clamped) in cases {
            var room = VirtualRoom(.init(staleAfter: .seconds(60)))
            try room.sample(30_000, r: 0)
            try room.sample(12_000, .hls, r: 0)
            room.log(anchor)
            room.wait(.seconds(2))
            room.log(time)
            room.change { gate, _, _ in #expect(gate.takeClampedCount() == clamped, "\(time)") }
            #expect(room.shown().contains(2) == (clamped == 1 && anchor < 30_000), "\(time)")
        }
    }

    @Test func `An epoch without an anchor believes a time up to 24 h ahead of the clock`() throws {
        for (time, clamped) in [(Int64(86_430_000), 0), (86_430_001, 1)] {
            var room = VirtualRoom()
            try room.sample(30_000, r: 0)
            room.log(time)
            room.change { gate, _, _ in #expect(gate.takeClampedCount() == clamped) }
            #expect(room.shown() == (clamped == 0 ? [] : [1]))
        }
    }

    @Test(arguments: [1.0, 1.02])
    func `An honest teacher is never clamped, however long the video stalls`(hurry: Double) throws {
        var room = VirtualRoom(.init(policy: .hold))
        try room.play(from: 0, for: .seconds(10))
        for second in 10..<1000 {
            room.log(Int64(Double(second) * 1000 * hurry))
            try room.sample(9750, s: .stall)
            room.wait(.seconds(1))
        }
        room.change { gate, _, _ in #expect(gate.takeClampedCount() == 0) }
        #expect(room.shown() == [])
        guard hurry == 1 else { return }
        // One bad time neither blocks the room nor shifts what follows.
        room.log(100_000_000, 1_000_500)
        room.change { gate, _, _ in #expect(gate.takeClampedCount() == 1) }
        try room.sample(1_000_400, d: true)
        #expect(room.shown() == Array(1...991))
        #expect(room.after(.milliseconds(101)).shown() == Array(1...992))
    }
}

/// Rule 10: what happens to operations that the clock does not release.
@Suite struct `Waiting too long` {
    private var room = VirtualRoom()

    @Test func `An operation that the clock and the longest wait release at one instant is not late`() throws {
        var room = VirtualRoom(.init(maxHold: .milliseconds(1000) + .microseconds(1)))
        try room.sample(0)
        room.log(1000)
        #expect(room.after(.seconds(2)).shown() == [1])
        #expect(room.late() == [])
    }

    @Test(arguments: [ClockSample.State.pause, .stall])
    mutating func `The first play after a long pause lets nothing out early`(state: ClockSample.State) throws {
        try room.play(from: 1000, for: .seconds(4))
        room.log(6500, 60_000)
        for _ in 0..<2400 {
            try room.sample(5000, s: state)
            room.wait(.milliseconds(250))
        }
        #expect(room.shown() == [])
        try room.play(from: 5000, for: .milliseconds(1500))
        #expect(room.shown() == [])
        try room.play(from: 6500, for: .milliseconds(250))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
        // The second one has waited 1.75 s.
        #expect(room.after(.seconds(28.25) - .nanoseconds(1)).shown() == [1])
        #expect(room.after(.nanoseconds(1)).late() == [2])
    }

    @Test func `Of more pauses than are remembered none makes an operation wait too short`() throws {
        var room = VirtualRoom(.init(maxHold: .seconds(10), staleAfter: .seconds(60)))
        try room.sample(0)
        room.log(60_000)
        for _ in 0..<90 {
            room.wait(.milliseconds(100))
            try room.sample(0, s: .stall, d: true)
            room.wait(.seconds(3))
            try room.sample(0, d: true)
        }
        // The operation has waited 9 s.
        #expect(room.shown() == [])
        #expect(room.after(.milliseconds(999)).shown() == [])
        #expect(room.after(.seconds(8)).late() == [1])
    }

    @Test
    mutating func `When samples could not be heard for a while, waiting counts from then until the next one`() throws {
        try room.sample(5000, s: .pause)
        room.log(6000)
        room.wait(.seconds(1))
        room.beDeaf(.seconds(3600))
        #expect(room.after(.seconds(29)).shown() == [])
        try room.sample(5000)
        #expect(room.shown() == [])
        #expect(room.after(.milliseconds(1001)).shown() == [1])
        #expect(room.late() == [])
    }
}
