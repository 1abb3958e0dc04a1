import StrokeWire

/// The numbers of a count that were settled without being applied, as ranges, with the reason of each.
///
/// Bounded: at most `bound` ranges ahead of the next expected number and as many below it are remembered. Ahead, the
/// oldest becomes a gap again; below, it is forgotten, and a late arrival under it counts as a repeat.
struct SettledNumbers: Sendable {
    enum Reason: Sendable, Equatable {
        case rejected(Rejection)
        /// Given up when the room's log had grown to `head`.
        case gaveUp(head: UInt64)
    }

    struct Entry: Sendable {
        var from: Int64
        var to: Int64
        let reason: Reason
        /// Counts insertions: the least is the oldest.
        let age: UInt64
    }

    static let bound = 1024

    /// In order, not overlapping.
    private(set) var entries: [Entry] = []
    private(set) var insertions: UInt64 = 0

    init() {}

    /// - Parameter entries: in order, not overlapping.
    init(_ entries: [Entry], insertions: UInt64) {
        self.entries = entries
        self.insertions = insertions
    }

    func entry(containing number: Int64) -> Entry? {
        let position = position(of: number)
        guard position < entries.count, entries[position].from <= number else { return nil }
        return entries[position]
    }

    func reason(of number: Int64) -> Reason? {
        entry(containing: number)?.reason
    }

    /// Parts of `range` that are not settled, in order.
    func unsettled(in range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        var free: [ClosedRange<Int64>] = []
        var next = range.lowerBound
        var position = position(of: next)
        while position < entries.count, entries[position].from <= range.upperBound {
            if entries[position].from > next { free.append(next...(entries[position].from - 1)) }
            next = entries[position].to + 1
            position += 1
        }
        if next <= range.upperBound { free.append(next...range.upperBound) }
        return free
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
        bound(below: expected)
    }

    /// The number was applied after all.
    mutating func remove(_ number: Int64, expected: Int64) {
        let position = position(of: number)
        guard position < entries.count, entries[position].from <= number else { return }
        let old = entries.remove(at: position)
        if number < old.to {
            entries.insert(Entry(from: number + 1, to: old.to, reason: old.reason, age: old.age), at: position)
        }
        if old.from < number {
            entries.insert(Entry(from: old.from, to: number - 1, reason: old.reason, age: old.age), at: position)
        }
        bound(below: expected)
    }

    private mutating func bound(below expected: Int64) {
        guard entries.count > Self.bound else { return }
        // From the top, so that positions further down stay what they are.
        let split = position(of: expected)
        for side in [split..<entries.count, 0..<split] {
            for excess in 0..<max(0, side.count - Self.bound) {
                let rest = side.lowerBound..<(side.upperBound - excess)
                if let oldest = rest.min(by: { entries[$0].age < entries[$1].age }) { entries.remove(at: oldest) }
            }
        }
    }

    /// Position of the first entry that ends at or after `number`.
    private func position(of number: Int64) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].to < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
