/// The seeds of random tests: printed, so that `LECTERN_SEED` brings a failure back.
package enum TestSeed {
    /// The seed to use again. `LECTERN_TEST_SEED` says the same.
    package static let given =
        EnvironmentVariable("LECTERN_SEED").number ?? EnvironmentVariable("LECTERN_TEST_SEED").number

    /// The given seed, else a new one.
    package static func choose(file: String = #fileID, line: Int = #line) -> UInt64 {
        let seed = given ?? new()
        print("\(file):\(line): seed \(seed)")
        return seed
    }

    /// The given seed alone, else so many new ones.
    package static func choose(_ count: Int, file: String = #fileID, line: Int = #line) -> [UInt64] {
        guard given == nil else { return [choose(file: file, line: line)] }
        let first = new()
        print("\(file):\(line): \(count) seeds from \(first) on")
        return (0..<UInt64(count)).map { first + $0 }
    }

    /// Short enough to be typed.
    private static func new() -> UInt64 { UInt64.random(in: 0..<1_000_000_000) }
}
