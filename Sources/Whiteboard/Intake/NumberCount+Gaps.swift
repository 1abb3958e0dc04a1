import StrokeWire

/// A run of numbers that are neither settled nor complete, with complete operations waiting behind it.
struct Gap: Sendable, Equatable {
    let numbers: ClosedRange<Int64>
    /// When the first operation behind it became complete.
    let blockedSince: Instant
}

extension NumberCount {
    /// The gaps, in order.
    var gaps: [Gap] {
        guard pending.contains(where: \.isComplete) else { return [] }
        var found: [Gap] = []
        var upper: Int64?
        var since = Instant.distantFuture
        // From the top: whatever is complete blocks on every gap below it.
        for entry in pending.reversed() where entry.isComplete {
            if let upper { collect(entry.number + 1, upper - 1, since, into: &found) }
            since = min(since, entry.completeAt)
            upper = entry.number
        }
        if let upper { collect(expected, upper - 1, since, into: &found) }
        return found.reversed()
    }

    private func collect(_ from: Int64, _ to: Int64, _ since: Instant, into found: inout [Gap]) {
        guard from <= to else { return }
        for range in settled.unsettled(in: from...to).reversed() {
            found.append(Gap(numbers: range, blockedSince: since))
        }
    }

    /// What is missing directly below a number that has just become complete; empty where the next lower number is
    /// complete itself, for then the author has been told.
    func missing(below number: Int64) -> [Feedback] {
        let below = pending.last { $0.isComplete && $0.number < number }
        let from = below.map { $0.number + 1 } ?? expected
        guard from < number else { return [] }
        return settled.unsettled(in: from...(number - 1)).flatMap { missing(in: $0) }
    }

    /// What is missing in a range that is not settled: whole numbers, and shards of strokes under assembly.
    func missing(in range: ClosedRange<Int64>) -> [Feedback] {
        var missing: [Feedback] = []
        var next = range.lowerBound
        for entry in pending[position(of: next).at...] {
            guard entry.number <= range.upperBound else { break }
            if next < entry.number { missing.append(.missingRange(from: next, to: entry.number - 1)) }
            if let assembly = entry.assembly {
                missing.append(.missingShards(number: entry.number, orders: assembly.missingOrders))
            }
            next = entry.number + 1
        }
        if next <= range.upperBound { missing.append(.missingRange(from: next, to: range.upperBound)) }
        return missing
    }

    /// Strokes under assembly with nothing complete behind them.
    var unblockingAssemblies: [(number: Int64, assembly: ShardAssembly)] {
        pending.reversed().prefix { !$0.isComplete }.reversed().compactMap { entry in
            entry.assembly.map { (entry.number, $0) }
        }
    }
}
