import StrokeWire

/// One count of an author: the numbers from its start, in order, and what waits for them.
struct NumberCount: Sendable {
    /// An operation that is not settled: under assembly, or complete and waiting for smaller numbers.
    struct Pending: Sendable {
        let number: Int64
        var assembly: ShardAssembly?
        var ready: ReadyOperation?
        var completeAt = Instant.distantPast

        var isComplete: Bool { ready != nil }
        var byteCount: Int { (assembly?.byteCount ?? 0) + (ready?.bytes.count ?? 0) }
    }

    let start: Int64
    let startedAt: Instant
    /// Index of the log's last operation when the count started.
    let startHead: UInt64
    /// The least number that is not settled.
    var expected: Int64
    /// By number, all at or above `expected`.
    var pending: [Pending] = []
    /// Strokes that were given up before they were whole, by number.
    var late: [Int64: ShardAssembly] = [:]
    var settled = SettledNumbers()
    var applied = AppliedNumbers()
    var beginning = CountStart()

    init(start: Int64, at now: Instant, head: UInt64) {
        self.start = start
        startedAt = now
        startHead = head
        expected = start
    }

    /// Index of the log's last operation when `number` was given up; nil where it was not. A number below the start
    /// that comes soon after it counts as given up with the start.
    func givenUpHead(of number: Int64, at now: Instant) -> UInt64? {
        switch settled.reason(of: number) {
        case .gaveUp(let head): return head
        case .rejected: return nil
        case nil: break
        }
        guard number < start, applied.index(of: number) == nil else { return nil }
        return now - startedAt <= IntakeTiming.lateStart ? startHead : nil
    }

    /// Position of `number` in `pending`, or where it belongs.
    func position(of number: Int64) -> (at: Int, isThere: Bool) {
        if let last = pending.last, last.number < number { return (pending.count, false) }
        var low = 0
        var high = pending.count
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return (low, low < pending.count && pending[low].number == number)
    }

    /// Moves on over everything that is settled or complete; complete operations become ready in order.
    mutating func advance(into ready: inout [ReadyOperation]) {
        var taken = 0
        while true {
            if let entry = settled.entry(containing: expected) {
                expected = entry.to + 1
            } else if taken < pending.count, pending[taken].number == expected, let operation = pending[taken].ready {
                ready.append(operation)
                taken += 1
                expected += 1
            } else {
                break
            }
        }
        if taken > 0 { pending.removeFirst(taken) }
    }

    /// Settles `number`, and what was under assembly with it, without applying it.
    mutating func reject(_ number: Int64, _ rejection: Rejection) {
        let position = position(of: number)
        if position.isThere { pending.remove(at: position.at) }
        late[number] = nil
        settled.remove(number, expected: expected)
        settled.insert(number...number, .rejected(rejection), expected: expected)
    }

    /// The number was applied, in its turn or late.
    mutating func recordApplied(_ number: Int64, index: UInt64) {
        // One that was given up before those below it were stays settled until they are.
        if number < expected { settled.remove(number, expected: expected) }
        applied.record(number, index: index)
    }

    var pendingBytes: Int {
        pending.reduce(0) { $0 + $1.byteCount } + late.values.reduce(0) { $0 + $1.byteCount }
    }
    var assemblingCount: Int { pending.count { !$0.isComplete } + late.count }
    var heldCount: Int { pending.count { $0.isComplete } }
}
