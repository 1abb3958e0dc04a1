import StrokeWire

/// The operations of a sequence that wait: complete ones for smaller numbers, strokes in shards for their other shards.
///
/// An input costs the logarithm of the number of operations that wait.
struct PendingOperations: Sendable {
    /// A complete operation that waits for smaller numbers.
    struct Held: Sendable {
        let ready: ReadyOperation
        let completeAt: Instant
    }

    /// Complete operations by number, all above the next expected one.
    private(set) var held = SortedTable<Held>()
    /// When each held operation became complete that was the highest then. The first of them above a gap has waited
    /// longest for it.
    private var blockers = SortedTable<Instant>()
    /// Strokes under assembly by number, none below the next expected one.
    private(set) var assemblies = SortedTable<ShardAssembly>()
    /// Strokes by number that were given up before all their shards had come.
    private(set) var late: [Int64: ShardAssembly] = [:]
    /// Bytes of all of these.
    private(set) var byteCount = 0

    /// Whether an operation waits that was not given up.
    var isEmpty: Bool { held.isEmpty && assemblies.isEmpty }
    /// Strokes under assembly, given-up ones included.
    var assemblingCount: Int { assemblies.count + late.count }
    /// The numbers that wait and were not given up, in order.
    var numbers: [Int64] { (held.map { $0.number } + assemblies.map { $0.number }).sorted() }
    /// The greatest of ``numbers``.
    var last: Int64? { [held.last?.number, assemblies.last?.number].compactMap { $0 }.max() }

    // MARK: - Complete operations

    mutating func hold(_ ready: ReadyOperation, at now: Instant) {
        let isHighest = held.last.map { $0.number < ready.number } ?? true
        // The log's time may have gone back.
        if isHighest { blockers.insert(max(now, blockers.last?.value ?? .distantPast), at: ready.number) }
        held.insert(Held(ready: ready, completeAt: now), at: ready.number)
        byteCount += ready.bytes.count
    }

    /// Takes out the complete operation of this number.
    mutating func takeHeld(_ number: Int64) -> ReadyOperation? {
        guard let first = held.first, first.number == number else { return nil }
        held.remove(number)
        blockers.remove(number)
        byteCount -= first.value.ready.bytes.count
        return first.value.ready
    }

    // MARK: - Strokes in shards

    /// Adds a shard to its stroke, a new one if necessary.
    /// - Parameters:
    ///   - points: the greatest number of points of a stroke.
    ///   - byteLimit: the greatest ``byteCount``.
    mutating func addShard(
        _ header: StrokeMessage, _ bytes: [UInt8], isLate: Bool, points: Int, byteLimit: Int, at now: Instant
    ) -> ShardAssembly.Outcome {
        let number = header.number
        let room = room(for: bytes.count, of: byteLimit, keeping: isLate ? number : nil)
        func add(_ assembly: inout ShardAssembly) -> ShardAssembly.Outcome {
            assembly.add(header, bytes, points: points, room: room, at: now)
        }
        let new = ShardAssembly(header: header, at: now)
        let outcome: ShardAssembly.Outcome
        if isLate {
            outcome = add(&late[number, default: new])
        } else {
            if !assemblies.contains(number) { assemblies.insert(new, at: number) }
            outcome = assemblies.update(number, add) ?? .repeated
        }
        switch outcome {
        case .added, .complete: byteCount += bytes.count
        case .repeated, .conflict, .refused: break
        }
        return outcome
    }

    mutating func takeAssembly(_ number: Int64, isLate: Bool) -> ShardAssembly? {
        let assembly = isLate ? late.removeValue(forKey: number) : assemblies.remove(number)
        byteCount -= assembly?.byteCount ?? 0
        return assembly
    }

    /// Makes the strokes under assembly in a range late ones.
    mutating func giveUp(_ range: ClosedRange<Int64>) {
        while let begun = assemblies.first(from: range.lowerBound), begun.number <= range.upperBound {
            assemblies.remove(begun.number)
            // It may have been given up before, and forgotten as such.
            let before = late.updateValue(begun.value, forKey: begun.number)
            byteCount -= before?.byteCount ?? 0
        }
    }

    /// Drops the late stroke that has waited longest, but not `number`.
    /// - Returns: false where there is none.
    mutating func dropOldestLate(keeping number: Int64? = nil) -> Bool {
        let others = late.lazy.filter { $0.key != number }
        guard let oldest = others.min(by: { ($0.value.lastShardAt, $0.key) < ($1.value.lastShardAt, $1.key) }) else {
            return false
        }
        _ = takeAssembly(oldest.key, isLate: true)
        return true
    }

    /// How many bytes may still be added. Drops late strokes, but not `number`, to make room for `wanted`.
    mutating func room(for wanted: Int, of limit: Int, keeping number: Int64? = nil) -> Int {
        while byteCount + wanted > limit, dropOldestLate(keeping: number) {}
        return limit - byteCount
    }

    // MARK: - What is missing

    /// Calls `body` with each run of numbers below a complete operation that are not complete themselves, from
    /// `expected` on, and when the first complete operation above it became complete; until `body` returns false.
    func forEachGap(from expected: Int64, _ body: (ClosedRange<Int64>, _ blockedSince: Instant) -> Bool) {
        var next = expected
        var blocker = blockers.makeIterator()
        var longest = blocker.next()
        for entry in held {
            defer { next = entry.number + 1 }
            guard next < entry.number else { continue }
            while let passed = longest, passed.number < entry.number { longest = blocker.next() }
            guard body(next...(entry.number - 1), longest?.value ?? entry.value.completeAt) else { return }
        }
    }

    /// Parts of a range that are not complete.
    func incomplete(in range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        var parts: [ClosedRange<Int64>] = []
        var next = range.lowerBound
        for entry in held.elements(from: next) {
            guard entry.number <= range.upperBound else { break }
            if next < entry.number { parts.append(next...(entry.number - 1)) }
            next = entry.number + 1
        }
        if next <= range.upperBound { parts.append(next...range.upperBound) }
        return parts
    }

    /// What is missing in a range without complete operations: whole operations, and shards of strokes under assembly.
    /// At most `limit` notices, the lowest.
    func missing(in range: ClosedRange<Int64>, limit: Int) -> [Feedback] {
        var missing: [Feedback] = []
        var next = range.lowerBound
        for entry in assemblies.elements(from: next) {
            guard entry.number <= range.upperBound, missing.count < limit else { break }
            if next < entry.number { missing.append(.missingRange(from: next, to: entry.number - 1)) }
            missing.append(entry.value.notice)
            next = entry.number + 1
        }
        if next <= range.upperBound { missing.append(.missingRange(from: next, to: range.upperBound)) }
        return Array(missing.prefix(limit))
    }

    /// Strokes under assembly above all complete operations.
    var unblockingAssemblies: SortedTable<ShardAssembly>.Elements {
        assemblies.elements(from: held.last.map { $0.number + 1 } ?? .min)
    }

    // MARK: - Restoring

    mutating func restore(_ assembly: ShardAssembly, isLate: Bool) {
        let number = assembly.first.number
        byteCount += assembly.byteCount
        if isLate { late[number] = assembly } else { assemblies.insert(assembly, at: number) }
    }

    /// Restores a complete operation. In the order of their numbers.
    mutating func restore(_ operation: Held) {
        while let last = blockers.last, last.value >= operation.completeAt { blockers.remove(last.number) }
        blockers.insert(operation.completeAt, at: operation.ready.number)
        held.insert(operation, at: operation.ready.number)
        byteCount += operation.ready.bytes.count
    }
}
