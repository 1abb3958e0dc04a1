import StrokeWire
import Testing
import Whiteboard

/// Rule 6: encoder sessions.
@Suite("Epochs")
struct EpochTests {
    @Test("11: the cohort's first sample of a new epoch releases what it holds of the old one; the gate runs from 0")
    func newEpoch() throws {
        var room = VirtualRoom()
        try room.sample(5000, ep: 3)
        room.log(5100, 5200, 5300, 5400, 5500)
        #expect(room.shown() == [])
        #expect(try room.sample(0, ep: 4) == .newEpochs([4]))
        #expect(room.shown() == [1, 2, 3, 4, 5])
        #expect(room.late() == [])
        room.log(100)
        #expect(room.video() == 0)
        room.wait(.milliseconds(100))
        #expect(room.shown().count == 5)
        room.wait(.milliseconds(1))
        #expect(room.shown().count == 6)
    }

    @Test("12: a cohort that sees the new epoch 20 s later has its own cursor until then")
    func slowCohort() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(60_000, ep: 0)
        try room.sample(40_000, hls, ep: 0)
        room.log(61_000, 62_000)
        try room.sample(0, ep: 1)
        #expect(room.shown() == [1, 2])
        room.log(500)
        for second in 0..<19 {
            try room.sample(Double(second) * 1000, ep: 1)
            try room.sample(40_000 + Double(second) * 1000, hls, ep: 0)
            room.wait(.seconds(1))
        }
        #expect(room.shown() == [1, 2, 3])
        #expect(room.shown(hls) == [])
        try room.sample(59_000, hls, ep: 0)
        room.wait(.seconds(1))
        try room.sample(0, hls, ep: 1)
        #expect(room.shown(hls) == [1, 2])
        room.wait(.milliseconds(501))
        #expect(room.shown(hls) == [1, 2, 3])
        #expect(room.late(hls) == [])
        #expect(try room.sample(60_000, hls, ep: 0) == .ignored(.olderEpoch))
    }

    @Test("31: a stroke logged in the new epoch waits for the new clock, though the old one had passed its time")
    func newEpochStroke() throws {
        var room = VirtualRoom()
        try room.sample(5000, ep: 0)
        try room.sample(0, ep: 1)
        room.log(2600)
        try room.play(from: 0, ep: 1, for: .milliseconds(2500))
        #expect(room.shown() == [])
        room.wait(.milliseconds(100))
        #expect(room.shown() == [])
        room.wait(.milliseconds(1))
        #expect(room.shown() == [1])
    }

    @Test("32: a time line that restarts at 0 without `ep` is a new epoch after the second sample")
    func implicitEpoch() throws {
        var room = VirtualRoom()
        try room.play(from: 60_000, for: .seconds(1))
        room.log(62_000)
        #expect(try room.sample(0) == .candidate)
        room.wait(.milliseconds(250))
        #expect(room.shown() == [])
        #expect(try room.sample(250) == .newEpochs([0, 1]))
        #expect(room.gate.epoch == 1)
        #expect(room.shown() == [1])
        room.log(0, 200, 300)
        #expect(room.shown() == [1, 2, 3])
        room.wait(.milliseconds(51))
        #expect(room.shown() == [1, 2, 3, 4])
    }

    @Test("Without `ep` a declared jump back by more than 10 s is a new epoch at once, a shorter one is none")
    func declaredRestart() throws {
        var room = VirtualRoom()
        try room.sample(60_000)
        #expect(try room.sample(50_000, d: true) == .taken)
        #expect(try room.sample(39_999.999, d: true) == .newEpochs([0, 1]))
    }

    @Test("With `ep` a jump back within the epoch is none of another, however far")
    func backwardWithinEpoch() throws {
        var room = VirtualRoom()
        try room.sample(60_000, ep: 5)
        #expect(try room.sample(0, ep: 5, d: true) == .taken)
        #expect(room.gate.epoch == 5)
    }

    @Test("Each cohort without `ep` counts for itself and steps into the epoch that another began")
    func countsForItself() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(60_000)
        try room.sample(40_000, hls)
        room.log(61_000)
        try room.sample(0, d: true)
        room.log(10)
        #expect(room.gate.epoch == 1)
        #expect(room.shown(hls) == [])
        #expect(try room.sample(0, hls, d: true) == .taken)
        #expect(room.gate.epoch == 1)
        #expect(room.shown(hls) == [1])
        room.wait(.milliseconds(11))
        #expect(room.shown(hls) == [1, 2])
        #expect(room.shown() == [1, 2])
    }

    @Test("What a pause held longer than it may is due when the cohort leaves it for another epoch")
    func leavesPause() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(0, ep: 1)
        try room.sample(9000, hls, ep: 1, s: .pause)
        try room.sample(0, ep: 2)
        room.log(50_000)
        for _ in 0..<160 {
            room.wait(.milliseconds(250))
            try room.sample(9000, hls, ep: 1, s: .pause)
        }
        #expect(room.shown(hls) == [])
        try room.sample(0, hls, ep: 2)
        #expect(room.late(hls) == [1])
        #expect(room.releases.last?.due == room.now)
    }

    @Test("A cohort in an epoch that the log never had is past the older ones and before the newer ones")
    func unknownEpochBetween() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(1000, hls, ep: 3)
        room.log(2000)
        try room.sample(0, ep: 8)
        room.log(10)
        #expect(try room.sample(5000, hls, ep: 5) == .taken)
        #expect(room.shown(hls) == [1])
        #expect(try room.sample(11, hls, ep: 8) == .taken)
        #expect(room.shown(hls) == [1, 2])
    }
}
