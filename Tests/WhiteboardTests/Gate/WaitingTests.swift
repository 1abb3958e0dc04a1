import StrokeWire
import Testing
import Whiteboard

/// Rule 10: what happens to operations that the clock does not release.
@Suite("Waiting too long")
struct WaitingTests {
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

    @Test(
        "Without any clock the policies hold and freerun never release",
        arguments: [CohortSettings.Policy.hold, .freerun])
    func hold(policy: CohortSettings.Policy) throws {
        var room = VirtualRoom(.init(policy: policy))
        room.log(1000, nil)
        room.wait(.seconds(100_000))
        #expect(room.shown() == [])
        #expect(room.gate.released(to: .main) == 0)
        #expect(room.gate.heldCount(of: .main) == 2)
        #expect(room.gate.clockCondition(of: .main, at: room.now) == .unknown)
    }

    @Test("What the clock and the longest wait release at one instant is not late")
    func clockBeforePolicy() throws {
        var room = VirtualRoom(.init(maxHold: .milliseconds(1000) + .microseconds(1)))
        try room.sample(0)
        room.log(1000)
        room.wait(.seconds(2))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
    }

    @Test("Time in a stall does not count, but only while its clock is live")
    func deadStall() throws {
        var room = VirtualRoom()
        room.log(9000)
        room.wait(.seconds(29))
        try room.sample(9000, s: .stall)
        room.wait(.seconds(3) - .nanoseconds(1))
        #expect(room.shown() == [])
        room.wait(.nanoseconds(1))
        #expect(room.late() == [1])
    }

    @Test("The first play after a long pause lets nothing out early", arguments: [ClockSample.State.pause, .stall])
    func longPause(state: ClockSample.State) throws {
        var room = VirtualRoom()
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
        room.wait(.seconds(28.25) - .nanoseconds(1))
        #expect(room.shown() == [1])
        room.wait(.nanoseconds(1))
        #expect(room.late() == [2])
    }

    @Test("Many pauses in turn are all left out, each operation's own")
    func manyPauses() throws {
        var room = VirtualRoom(.init(maxHold: .seconds(10), staleAfter: .seconds(5)))
        try room.sample(0)
        room.log(60_000)
        for turn in 0..<6 {
            room.wait(.seconds(1))
            try room.sample(0, s: .pause, d: true)
            room.wait(.seconds(3))
            try room.sample(0, d: true)
            if turn == 2 { room.log(60_000) }
        }
        // 24 s: the first has waited 6 s, the second 3 s.
        #expect(room.shown() == [])
        room.wait(.seconds(4) - .nanoseconds(1))
        #expect(room.shown() == [])
        room.wait(.nanoseconds(1))
        #expect(room.late() == [1])
        room.wait(.seconds(3) - .nanoseconds(1))
        #expect(room.late() == [1])
        room.wait(.nanoseconds(1))
        #expect(room.late() == [1, 2])
    }

    @Test("Of more pauses than are remembered none makes an operation wait too short")
    func endlessPauses() throws {
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
        room.wait(.milliseconds(999))
        #expect(room.shown() == [])
        room.wait(.seconds(8))
        #expect(room.late() == [1])
    }

    @Test("When samples could not be heard for a while, waiting counts from then on until the next one")
    func unheard() throws {
        var room = VirtualRoom()
        try room.sample(5000, s: .pause)
        room.log(6000)
        room.wait(.seconds(1))
        room.beDeaf(.seconds(3600))
        room.wait(.seconds(29))
        #expect(room.shown() == [])
        try room.sample(5000)
        #expect(room.shown() == [])
        room.wait(.milliseconds(1001))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
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
