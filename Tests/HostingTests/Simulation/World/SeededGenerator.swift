/// Random numbers that a printed seed brings back (splitmix64, Steele, Lea and Flood 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// True so often in a thousand.
    mutating func chance(_ thousandths: Int) -> Bool { Int.random(in: 0..<1000, using: &self) < thousandths }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A time in milliseconds and fractions.
    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .nanoseconds(
            Int64.random(in: Int64(range.lowerBound) * 1_000_000...Int64(range.upperBound) * 1_000_000, using: &self))
    }
}
