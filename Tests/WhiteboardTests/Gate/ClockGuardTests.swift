import StrokeWire
import Testing
import Whiteboard

/// Rules 4, 5 and 14: which samples are believed.
@Suite("Clock guard")
struct ClockGuardTests {
    @Test("6: a sample whose number is not greater is ignored while the clock is live")
    func numbers() throws {
        var room = VirtualRoom()
        #expect(try room.sample(1000, q: 7) == .taken)
        room.wait(.milliseconds(100))
        #expect(try room.sample(900, q: 6) == .ignored(.repeated))
        #expect(try room.sample(900, q: 7) == .ignored(.repeated))
        #expect(room.video() == 1100)
        room.wait(.milliseconds(1901))
        #expect(try room.sample(3000, q: 1) == .taken)
    }

    @Test("7: a small step back is taken and recalls nothing")
    func stepBack() throws {
        var room = VirtualRoom()
        room.log(4900, 4950)
        try room.sample(4920, r: 0)
        try room.sample(5000)
        #expect(room.shown() == [1, 2])
        #expect(try room.sample(4600) == .taken)
        #expect(room.video() == 4600)
        room.log(4700)
        room.wait(.milliseconds(350))
        #expect(room.shown() == [1, 2])
        room.wait(.milliseconds(1))
        #expect(room.shown() == [1, 2, 3])
    }

    @Test("A step back of exactly 1 s is taken, a microsecond more is not")
    func edgeOfStepBack() throws {
        for (media, outcome) in [(4000, ClockOutcome.taken), (3999.999, .candidate)] {
            var room = VirtualRoom()
            try room.sample(5000)
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test("A step of exactly 5 s ahead is taken, a microsecond more is not")
    func edgeOfJump() throws {
        for (media, outcome) in [(10_000, ClockOutcome.taken), (10_000.001, .candidate)] {
            var room = VirtualRoom()
            try room.sample(5000)
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test("8: one sample a minute ahead, then normal ones: nothing leaks")
    func strayAhead() throws {
        var room = VirtualRoom()
        room.log(30_000)
        try room.play(from: 1000, for: .seconds(1))
        #expect(try room.sample(62_000) == .candidate)
        room.wait(.milliseconds(250))
        try room.play(from: 2250, for: .seconds(3))
        #expect(room.shown() == [])
        #expect(try room.sample(65_250) == .candidate)
    }

    @Test("9: two agreeing samples a minute ahead are accepted, and the burst is in order")
    func jumpConfirmed() throws {
        var room = VirtualRoom()
        room.log(30_000, 40_000, 20_000)
        try room.sample(1000)
        #expect(try room.sample(61_000) == .candidate)
        room.wait(.milliseconds(250))
        #expect(room.shown() == [])
        #expect(try room.sample(61_250) == .taken)
        #expect(room.shown() == [1, 2, 3])
        #expect(room.late() == [])
    }

    @Test("Samples that agree neither with the clock nor with each other never count")
    func disagreeing() throws {
        var room = VirtualRoom()
        try room.sample(1000)
        for media in [61_000.0, 71_000, 81_000, 30_000, 28_999, 61_000] {
            #expect(try room.sample(media) == .candidate)
        }
        #expect(room.video() == 1000)
        #expect(try room.sample(62_000) == .taken)
    }

    @Test("A sample that comes twice does not confirm itself")
    func sameSampleTwice() throws {
        var room = VirtualRoom()
        try room.sample(1000, q: 1)
        #expect(try room.sample(61_000, q: 2) == .candidate)
        #expect(try room.sample(61_000, q: 2) == .ignored(.repeated))
        room.wait(.seconds(3))
        #expect(try room.sample(61_000, q: 2) == .ignored(.repeated))
        #expect(try room.sample(64_000, q: 3) == .taken)
    }

    @Test("A stray sample's number does not shut out those that follow")
    func strayNumber() throws {
        var room = VirtualRoom()
        try room.sample(1000, q: 1)
        #expect(try room.sample(61_000, q: 1_000_000) == .candidate)
        #expect(try room.sample(1000, q: 2) == .taken)
        #expect(try room.sample(1000, q: 3) == .taken)
    }

    @Test("10: a declared jump is taken at once, for its cohort alone")
    func declaredJump() throws {
        let other = try CohortName.named("hls")
        var room = VirtualRoom()
        room.log(30_000)
        try room.sample(1000)
        try room.sample(1000, other)
        #expect(try room.sample(61_000, d: true) == .taken)
        #expect(room.shown() == [1])
        #expect(room.shown(other) == [])
        #expect(room.video(other) == 1000)
        #expect(try room.sample(53_000, d: true) == .taken)
        #expect(room.video() == 53_000)
    }

    @Test("30: one stray sample 5 s low is ignored, two that agree are not")
    func strayLow() throws {
        var room = VirtualRoom()
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

    @Test("A second sample agrees within 1 s of what the first predicts, by its rate and state, no farther")
    func edgeOfAgreement() throws {
        for (media, outcome) in [(61_500, ClockOutcome.taken), (61_500.001, .candidate), (59_499.999, .candidate)] {
            var room = VirtualRoom()
            try room.sample(1000)
            #expect(try room.sample(60_000, r: 500) == .candidate)
            room.wait(.seconds(1))
            #expect(try room.sample(media) == outcome)
        }
    }

    @Test("A stream that takes over counts its samples anew")
    func numbersOfStreams() throws {
        var room = VirtualRoom()
        try room.sample(1000, q: 50, st: "a")
        room.wait(.seconds(2.5))
        #expect(try room.sample(3500, st: "b") == .taken)
        #expect(try room.sample(3500, q: 1, st: "b") == .taken)
        #expect(try room.sample(3500, st: "b") == .taken)
        #expect(try room.sample(3500, q: 1, st: "b") == .ignored(.repeated))
    }

    @Test("After a silence the prediction is what the next sample is measured by")
    func afterSilence() throws {
        var room = VirtualRoom()
        try room.sample(0)
        room.wait(.seconds(60))
        #expect(room.video() == 2000)
        #expect(try room.sample(65_001) == .candidate)
        #expect(try room.sample(58_000) == .taken)
        #expect(room.video() == 58_000)
    }

    @Test("Another stream is ignored while the clock is live and taken over by the guard's rules when it is stale")
    func streams() throws {
        var room = VirtualRoom()
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
