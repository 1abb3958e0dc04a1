import StrokeWire

/// What the passing of time asks for: notices of what is missing, and decisions to give up.
///
/// Both depend on wall time and change nothing here: a give-up takes effect when it comes back from the log.
extension Author {
    /// When `remind(at:)` has something to do; nil for never.
    func deadline(heldLimit: Int) -> Instant? {
        guard let count, !count.pending.isEmpty else { return nil }
        let gaps = count.gaps
        var earliest = Instant.distantFuture
        if let first = gaps.first {
            earliest = min(earliest, lastNotice + IntakeTiming.noticeInterval)
            if count.heldCount > heldLimit { earliest = min(earliest, dueDecision(first.numbers, .distantPast)) }
        }
        for gap in gaps {
            earliest = min(earliest, dueDecision(gap.numbers, gap.blockedSince + IntakeTiming.gapPatience))
        }
        for (number, assembly) in count.unblockingAssemblies {
            earliest = min(
                earliest, max(assembly.lastShardAt, lastNotice) + IntakeTiming.noticeInterval,
                dueDecision(number...number, assembly.lastShardAt + IntakeTiming.assemblyPatience))
        }
        return earliest
    }

    private func dueDecision(_ numbers: ClosedRange<Int64>, _ due: Instant) -> Instant {
        guard let asked = asked[numbers.lowerBound] else { return due }
        return max(due, asked + IntakeTiming.decisionRetry)
    }

    /// Tells what is missing and asks for the give-ups that are due.
    mutating func remind(at now: Instant, heldLimit: Int, into output: inout IntakeOutput) {
        guard let count, !count.pending.isEmpty else { return }
        let gaps = count.gaps
        let idle = count.unblockingAssemblies
        decide(count, gaps, idle, at: now, heldLimit: heldLimit, into: &output)
        var notices: [Feedback] = []
        if now - lastNotice >= IntakeTiming.noticeInterval {
            notices = gaps.flatMap { count.missing(in: $0.numbers) }
        }
        for (number, assembly) in idle
        where now - max(assembly.lastShardAt, lastNotice) >= IntakeTiming.noticeInterval {
            notices.append(.missingShards(number: number, orders: assembly.missingOrders))
        }
        guard !notices.isEmpty else { return }
        lastNotice = now
        output.feedback.append(contentsOf: notices.map { (id, $0) })
    }

    private mutating func decide(
        _ count: NumberCount, _ gaps: [Gap], _ idle: [(number: Int64, assembly: ShardAssembly)], at now: Instant,
        heldLimit: Int, into output: inout IntakeOutput
    ) {
        if let first = gaps.first, count.heldCount > heldLimit { ask(first.numbers, .distantPast, now, &output) }
        for gap in gaps { ask(gap.numbers, gap.blockedSince + IntakeTiming.gapPatience, now, &output) }
        for (number, assembly) in idle {
            ask(number...number, assembly.lastShardAt + IntakeTiming.assemblyPatience, now, &output)
        }
        if asked.count > 2 * (gaps.count + idle.count) + 8 {
            asked = asked.filter { now - $0.value < IntakeTiming.decisionRetry }
        }
    }

    private mutating func ask(
        _ numbers: ClosedRange<Int64>, _ due: Instant, _ now: Instant, _ output: inout IntakeOutput
    ) {
        guard dueDecision(numbers, due) <= now else { return }
        asked[numbers.lowerBound] = now
        output.decisions.append(.gaveUp(author: id, from: numbers.lowerBound, to: numbers.upperBound))
    }

    /// Gives up what is not complete between two numbers, where the decision stands in the log.
    mutating func giveUp(_ from: Int64, _ to: Int64, _ context: IntakeContext, into output: inout IntakeOutput) {
        guard var current = count else { return }
        count = nil
        defer { count = current }
        // Nothing beyond what has arrived is waited for: a decision that says so is about an earlier count.
        let lower = max(from, current.expected)
        guard let last = current.pending.last?.number, lower <= min(to, last) else { return }
        let upper = min(to, last)
        asked[from] = nil
        for range in current.incomplete(in: lower...upper) {
            current.giveUp(range, head: context.head)
            output.counts.gaveUp += 1
            output.feedback.append((id, .gaveUp(from: range.lowerBound, to: range.upperBound)))
        }
        current.advance(into: &output.ready)
    }
}

extension NumberCount {
    /// Parts of a range that are neither settled nor complete.
    fileprivate func incomplete(in range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        settled.unsettled(in: range).flatMap { free -> [ClosedRange<Int64>] in
            var parts: [ClosedRange<Int64>] = []
            var next = free.lowerBound
            for entry in pending where entry.isComplete && free.contains(entry.number) {
                if next < entry.number { parts.append(next...(entry.number - 1)) }
                next = entry.number + 1
            }
            if next <= free.upperBound { parts.append(next...free.upperBound) }
            return parts
        }
    }

    /// Strokes that had begun to arrive may still become whole, late.
    fileprivate mutating func giveUp(_ range: ClosedRange<Int64>, head: UInt64) {
        for entry in pending where range.contains(entry.number) {
            if let assembly = entry.assembly { late[entry.number] = assembly }
        }
        pending.removeAll { range.contains($0.number) }
        settled.insert(range, .gaveUp(head: head), expected: expected)
    }
}
