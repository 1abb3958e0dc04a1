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

    @Test("What the clock and the longest wait release at one instant is not late")
    func clockBeforePolicy() throws {
        var room = VirtualRoom(.init(maxHold: .milliseconds(1000) + .microseconds(1)))
        try room.sample(0)
        room.log(1000)
        room.wait(.seconds(2))
        #expect(room.shown() == [1])
        #expect(room.late() == [])
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
