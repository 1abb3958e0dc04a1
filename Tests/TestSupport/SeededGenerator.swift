import StrokeWire

/// A random number generator that repeats its numbers for the same seed: SplitMix64 (Steele, Lea and Flood 2014).
package struct SeededGenerator: RandomNumberGenerator {
    /// What it began with, for the messages of tests.
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    package mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    package mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// An element of a non-empty list.
    package mutating func pick<Value>(_ values: [Value]) -> Value { values[int(0..<values.count)] }

    /// True with the probability `times` / `total`.
    package mutating func chance(_ times: Int, in total: Int) -> Bool { int(0..<total) < times }

    /// A duration with a fraction of a millisecond, so that two events are rarely simultaneous.
    package mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .nanoseconds(
            Int64.random(in: Int64(range.lowerBound) * 1_000_000...Int64(range.upperBound) * 1_000_000, using: &self))
    }
}

/// The seeds of random tests. They are printed, so that `LECTERN_SEED` can repeat a failure; `LECTERN_SEEDS` is their
/// count in a test that takes several. They are new in each run, unless `LECTERN_SEED_BASE` is set: then each test has
/// always the same, so that a change is judged by its own faults, not by a rare one that was there before.
package enum TestSeed {
    /// The seed from `LECTERN_SEED`.
    package static let given = EnvironmentVariable("LECTERN_SEED").number

    /// The given seed, or a new one.
    package static func choose(file: String = #fileID, line: Int = #line) -> UInt64 {
        let seed = given ?? new(file, line)
        print("\(file):\(line): seed \(seed)")
        return seed
    }

    /// The given seed alone, or consecutive ones from a new one on: `count`, or as many as `LECTERN_SEEDS` says.
    package static func choose(_ count: Int, file: String = #fileID, line: Int = #line) -> [UInt64] {
        guard given == nil else { return [choose(file: file, line: line)] }
        let count = EnvironmentVariable("LECTERN_SEEDS").number ?? UInt64(count)
        let first = new(file, line)
        print("\(file):\(line): \(count) seeds from \(first) on")
        return (0..<count).map { first + $0 }
    }

    /// A generator for each of so many seeds.
    package static func generators(_ count: Int, file: String = #fileID, line: Int = #line) -> [SeededGenerator] {
        choose(count, file: file, line: line).map { SeededGenerator(seed: $0) }
    }

    private static let base = EnvironmentVariable("LECTERN_SEED_BASE").number

    /// A seed short enough to type.
    private static func new(_ file: String, _ line: Int) -> UInt64 {
        guard let base else { return UInt64.random(in: 0..<1_000_000_000) }
        var generator = SeededGenerator(seed: FNV1a64.hash("\(base) \(file):\(line)".utf8))
        return generator.next() % 1_000_000_000
    }
}
