import Foundation

/// Random numbers that a printed seed brings back: `LECTERN_TEST_SEED=<seed> swift test`. SplitMix64 (Steele, Lea,
/// Flood).
struct Seed: RandomNumberGenerator, CustomStringConvertible {
    let seed: UInt64
    private var state: UInt64

    init() {
        let given = ProcessInfo.processInfo.environment["LECTERN_TEST_SEED"].flatMap { UInt64($0) }
        self.init(given ?? UInt64.random(in: 0 ... .max))
    }

    init(_ seed: UInt64) {
        self.seed = seed
        state = seed
        print("seed \(seed)")
    }

    var description: String { "seed \(seed)" }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// An element of a list that is not empty.
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &self)] }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }
}
