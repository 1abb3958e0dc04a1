import DequeModule
import StrokeWire

/// The numbers of a sequence that were settled out of turn or without being applied: ranges, each with its reason.
///
/// Remembers at most `bound` ranges ahead of the next expected number and as many below it. Ahead, the oldest that was
/// not applied becomes a gap again; below, the oldest is forgotten, and a late message under it counts as a repeat. A
/// number that was applied is never open again.
struct SettledNumbers: Sendable {
    enum Reason: Sendable, Equatable {
        case rejected(Rejection)
        /// Given up when the room's log ended at `head`.
        case gaveUp(head: UInt64)
        /// Given up and then applied late, while a smaller number was not settled yet. Only ahead of the next expected
        /// number: below it, all numbers that are not remembered here were applied.
        case applied
    }

    struct Entry: Sendable {
        var from: Int64
        var to: Int64
        let reason: Reason
        /// Value of ``insertions`` when it was inserted.
        let age: UInt64
    }

    static let bound = 1024

    /// In order, not overlapping.
    private(set) var entries: [Entry] = []
    private(set) var insertions: UInt64 = 0
    /// Number of `applied` entries.
    private(set) var appliedCount = 0
    /// Whether a range ahead has become a gap again since the last ``takeReopened()``.
    private var isReopened = false

    init() {}

    /// - Parameter entries: in order, not overlapping.
    init(_ entries: [Entry], insertions: UInt64) {
        (self.entries, self.insertions) = (entries, insertions)
        appliedCount = entries.count { $0.reason == .applied }
    }

    func entry(containing number: Int64) -> Entry? {
        let position = position(of: number)
        guard position < entries.count, entries[position].from <= number else { return nil }
        return entries[position]
    }

    func reason(of number: Int64) -> Reason? { entry(containing: number)?.reason }

    /// Parts of `range` that are not settled, in order, at most `limit`, the lowest.
    func unsettled(in range: ClosedRange<Int64>, limit: Int = .max) -> [ClosedRange<Int64>] {
        var free: [ClosedRange<Int64>] = []
        var next = range.lowerBound
        var position = position(of: next)
        while free.count < limit, position < entries.count, entries[position].from <= range.upperBound {
            if entries[position].from > next { free.append(next...(entries[position].from - 1)) }
            next = entries[position].to + 1
            position += 1
        }
        if free.count < limit, next <= range.upperBound { free.append(next...range.upperBound) }
        return free
    }

    /// Whether a range ahead has become a gap again since the last call.
    mutating func takeReopened() -> Bool {
        defer { isReopened = false }
        return isReopened
    }

    /// - Precondition: nothing in `range` is settled yet.
    mutating func insert(_ range: ClosedRange<Int64>, _ reason: Reason, expected: Int64) {
        let position = position(of: range.lowerBound)
        insertions += 1
        if position > 0, entries[position - 1].to == range.lowerBound - 1, entries[position - 1].reason == reason {
            entries[position - 1].to = range.upperBound
            return
        }
        entries.insert(
            Entry(from: range.lowerBound, to: range.upperBound, reason: reason, age: insertions), at: position)
        if reason == .applied { appliedCount += 1 }
        bound(below: expected)
    }

    /// Makes a number unsettled.
    mutating func remove(_ number: Int64, expected: Int64) {
        remove(number...number, expected: expected)
    }

    /// Makes numbers unsettled, as far as they lie in the entry of the first of them.
    mutating func remove(_ numbers: ClosedRange<Int64>, expected: Int64) {
        let position = position(of: numbers.lowerBound)
        guard position < entries.count, entries[position].from <= numbers.lowerBound else { return }
        let old = entries.remove(at: position)
        if old.reason == .applied { appliedCount -= 1 }
        for (from, to) in [(numbers.upperBound + 1, old.to), (old.from, numbers.lowerBound - 1)] where from <= to {
            entries.insert(Entry(from: from, to: to, reason: old.reason, age: old.age), at: position)
            if old.reason == .applied { appliedCount += 1 }
        }
        bound(below: expected)
    }

    /// Notes that the entry of `number` is now below the next expected number, where applied numbers are not
    /// remembered.
    mutating func pass(_ number: Int64) {
        let position = position(of: number)
        guard position < entries.count, entries[position].reason == .applied else { return }
        entries.remove(at: position)
        appliedCount -= 1
    }

    private mutating func bound(below expected: Int64) {
        guard entries.count > Self.bound else { return }
        // From the top, so that lower positions stay valid.
        let split = position(of: expected)
        for side in [split..<entries.count, 0..<split] {
            for excess in 0..<max(0, side.count - Self.bound) {
                guard let oldest = oldest(in: side.lowerBound..<(side.upperBound - excess)) else { break }
                entries.remove(at: oldest)
                if oldest >= split { isReopened = true }
            }
        }
    }

    /// Position of the oldest entry that may be forgotten.
    private func oldest(in positions: Range<Int>) -> Int? {
        var oldest: Int?
        for position in positions where entries[position].reason != .applied {
            if oldest.map({ entries[position].age < entries[$0].age }) ?? true { oldest = position }
        }
        return oldest
    }

    /// Position of the first entry that ends at or after `number`.
    private func position(of number: Int64) -> Int { entries.partitioningIndex { $0.to >= number } }
}

/// The indices of the applied numbers of a sequence, with which repeats are answered.
///
/// Kept as runs of consecutive numbers with consecutive indices. Of more than `bound` runs the oldest is forgotten;
/// repeats under it are dropped without an answer.
struct AppliedNumbers: Sendable {
    struct Run: Sendable {
        let number: Int64
        let index: UInt64
        var length: Int64
    }

    static let bound = 1024

    private var runsByNumber = SortedTable<Run>()
    /// First numbers of the runs, oldest first.
    private var order: Deque<Int64> = []

    init() {}

    /// - Parameter runs: oldest first; no number is in two of them.
    init(_ runs: [Run]) {
        for run in runs.suffix(Self.bound) { append(run) }
    }

    /// Oldest first, in the order of their indices.
    var runs: [Run] { order.compactMap { runsByNumber[$0] } }
    var runCount: Int { order.count }

    mutating func record(_ number: Int64, index: UInt64) {
        let isNext = order.last.flatMap { last in
            runsByNumber.update(last) { run in
                guard run.number + run.length == number, run.index + UInt64(run.length) == index else { return false }
                run.length += 1
                return true
            }
        }
        guard isNext != true else { return }
        if order.count == Self.bound { forgetOldestRun() }
        append(Run(number: number, index: index, length: 1))
    }

    func index(of number: Int64) -> UInt64? {
        guard let run = runsByNumber[number] ?? runsByNumber.last(below: number)?.value,
            number - run.number < run.length
        else { return nil }
        return run.index + UInt64(number - run.number)
    }

    mutating func forgetOldestRun() {
        guard let oldest = order.popFirst() else { return }
        runsByNumber.remove(oldest)
    }

    private mutating func append(_ run: Run) {
        if !runsByNumber.contains(run.number) { order.append(run.number) }
        runsByNumber.insert(run, at: run.number)
    }
}
