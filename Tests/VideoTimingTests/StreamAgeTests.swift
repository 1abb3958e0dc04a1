import StrokeWire
import TestSupport
import Testing
import VideoTiming

@Suite struct StreamAgeTests {
    private func sample(
        _ milliseconds: Int64, _ state: ClockSample.State = .play, isJump: Bool = false, wrapBits: Int? = nil
    ) -> ClockSample {
        ClockSample(
            media: MediaTime(milliseconds: milliseconds), state: state, isDiscontinuity: isJump, wrapBits: wrapBits)
    }

    @Test func `a time of day is as old as it is`() {
        var age = StreamAge()
        let utc: Int64 = 1_800_000_000_000
        #expect(age.age(of: sample(utc - 6000), at: 0, utc: utc * 1000) == 6_000_000)
        #expect(age.age(of: sample(utc - 6000, .stall), at: 0, utc: (utc + 500) * 1000) == 6_500_000)
        // The clocks of encoder and probe differ a little.
        #expect(age.age(of: sample(utc + 3), at: 0, utc: utc * 1000) == 0)
        #expect(age.age(of: sample(utc - 600_001), at: 0, utc: utc * 1000) == nil)
        #expect(age.age(of: sample(utc, .end), at: 0, utc: utc * 1000) == nil)
    }

    @Test func `another time line has an age only where it is given`() {
        var age = StreamAge()
        #expect(age.age(of: sample(5000), at: 0, utc: 1_800_000_000_000_000) == nil)
        #expect(age.age(of: sample(5000), at: 0, utc: nil) == nil)
    }

    @Test func `a given age grows by the player's stalls and begins anew with each jump`() {
        var age = StreamAge(given: 6_000_000)
        #expect(age.age(of: sample(5000), at: 90_000_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(5250), at: 90_250_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(5250, .stall), at: 91_250_000, utc: nil) == 7_000_000)
        #expect(age.age(of: sample(5500), at: 91_500_000, utc: nil) == 7_000_000)
        #expect(age.age(of: sample(6750, isJump: true), at: 91_750_000, utc: nil) == 6_000_000)
        // A counter that wraps.
        let last: Int64 = (1 << 32) - 250
        #expect(age.age(of: sample(last, isJump: true, wrapBits: 32), at: 92_000_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(0, wrapBits: 32), at: 92_250_000, utc: nil) == 6_000_000)
        #expect(age.age(of: sample(250, wrapBits: 32), at: 92_750_000, utc: nil) == 6_250_000)
    }
}
