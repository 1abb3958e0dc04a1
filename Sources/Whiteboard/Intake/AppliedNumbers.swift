/// Which index each applied number of a count got, so that a repeat can be answered with it.
///
/// Kept as runs of consecutive numbers with consecutive indices. Bounded: the oldest of more than `bound` runs is
/// forgotten, and repeats under it are dropped without an answer.
struct AppliedNumbers: Sendable {
    struct Run: Sendable {
        let number: Int64
        let index: UInt64
        var length: Int64
    }

    static let bound = 1024

    /// In the order of their indices.
    private(set) var runs: [Run] = []

    init() {}

    init(_ runs: [Run]) {
        self.runs = runs.suffix(Self.bound)
    }

    mutating func record(_ number: Int64, index: UInt64) {
        if let last = runs.last, last.number + last.length == number, last.index + UInt64(last.length) == index {
            runs[runs.count - 1].length += 1
            return
        }
        if runs.count == Self.bound { runs.removeFirst() }
        runs.append(Run(number: number, index: index, length: 1))
    }

    func index(of number: Int64) -> UInt64? {
        // Late strokes make runs out of order; repeats are rare and mostly recent: look from the newest.
        for run in runs.reversed() where run.number <= number && number < run.number + run.length {
            return run.index + UInt64(number - run.number)
        }
        return nil
    }
}
