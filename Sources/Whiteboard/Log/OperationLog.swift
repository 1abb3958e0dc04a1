import DequeModule

/// The accepted operations of a room that may still be asked for: all that some cohort still holds, and a tail of
/// released ones for those who join again.
struct OperationLog: Sendable {
    private var entries: Deque<Operation> = []
    /// Index of the first operation kept.
    private(set) var firstIndex: UInt64 = 1
    /// Bytes of the operations kept unpacked, for some cohort still has to release them.
    private(set) var heldBytes = 0
    /// Bytes of those that every cohort has released.
    private(set) var releasedBytes = 0
    /// Operations before this index are packed.
    private var packedBefore: UInt64 = 1

    /// Index of the last operation, 0 for an empty log.
    var lastIndex: UInt64 { firstIndex + UInt64(entries.count) - 1 }
    var count: Int { entries.count }

    init(after index: UInt64 = 0) {
        firstIndex = index + 1
        packedBefore = firstIndex
    }

    subscript(index: UInt64) -> Operation { entries[Int(index - firstIndex)] }

    /// All operations kept, in order.
    var kept: some Collection<Operation> { entries }

    /// - Precondition: `operation.index == lastIndex + 1`
    mutating func append(_ operation: Operation) {
        heldBytes += operation.heldByteCount
        entries.append(operation)
    }

    /// The operations after `index`, nil where the log no longer reaches back that far.
    func tail(after index: UInt64, through last: UInt64) -> [Operation]? {
        guard index + 1 >= firstIndex else { return nil }
        guard last > index else { return [] }
        return Array(entries[Int(index + 1 - firstIndex)...Int(last - firstIndex)])
    }

    /// Every cohort has released everything through `index`: strokes need their unpacked bytes no more.
    mutating func pack(through index: UInt64) {
        while packedBefore <= min(index, lastIndex) {
            let position = Int(packedBefore - firstIndex)
            heldBytes -= entries[position].heldByteCount
            if case .draw = entries[position].effect { entries[position].message = [] }
            releasedBytes += entries[position].restByteCount
            packedBefore += 1
        }
    }

    /// Takes the oldest operation out.
    /// - Precondition: the log is not empty and its first operation was packed.
    mutating func popFirst() -> Operation {
        firstIndex += 1
        let operation = entries.removeFirst()
        releasedBytes -= operation.restByteCount
        return operation
    }
}

extension Operation {
    /// Bytes of an operation without its message, about.
    private static var overhead: Int { 256 }

    /// What it occupies until it is packed, in bytes.
    fileprivate var heldByteCount: Int {
        // One that comes from a checkpoint has not been unpacked.
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.byteCount + Self.overhead }
        return message.count + Self.overhead
    }

    /// What it occupies when it is packed, in bytes.
    fileprivate var restByteCount: Int {
        if case .draw(let stroke) = effect { stroke.byteCount + Self.overhead } else { heldByteCount }
    }
}
