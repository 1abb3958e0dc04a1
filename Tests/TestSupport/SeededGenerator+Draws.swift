extension SeededGenerator {
    package mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    package mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// An element of a list that is not empty.
    package mutating func pick<Value>(_ values: [Value]) -> Value { values[int(0..<values.count)] }

    /// True so many times in a total.
    package mutating func chance(_ times: Int, in total: Int) -> Bool { int(0..<total) < times }

    /// A time in milliseconds and fractions, so that no two events fall together.
    package mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .nanoseconds(
            Int64.random(in: Int64(range.lowerBound) * 1_000_000...Int64(range.upperBound) * 1_000_000, using: &self))
    }
}
