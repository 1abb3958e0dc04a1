import DequeModule

/// The accepted operations of a room that are still needed: those that some cohort holds, and a tail of released ones
/// for students who join again.
struct OperationLog: Sendable {
    private var entries: Deque<Operation> = []
    /// Index of the first operation kept.
    private(set) var firstIndex: UInt64 = 1
    /// Bytes of the operations that some cohort holds. They are not packed.
    private(set) var heldBytes = 0
    /// Bytes of the operations that every cohort has released. They are packed.
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

    /// Bytes of the message of an operation that is kept.
    func messageByteCount(of index: UInt64) -> Int { entries[Int(index - firstIndex)].messageByteCount }

    /// All operations kept, in order.
    var kept: some Collection<Operation> { entries }

    /// - Precondition: `operation.index == lastIndex + 1`
    mutating func append(_ operation: Operation) {
        heldBytes += operation.heldByteCount
        entries.append(operation)
    }

    /// The operations after `index`; nil where the log no longer has all of them.
    func tail(after index: UInt64, through last: UInt64) -> [Operation]? {
        guard index + 1 >= firstIndex else { return nil }
        guard last > index else { return [] }
        return Array(entries[Int(index + 1 - firstIndex)...Int(last - firstIndex)])
    }

    /// Drops the unpacked messages of strokes through `index`, which every cohort has released.
    mutating func pack(through index: UInt64) {
        while packedBefore <= min(index, lastIndex) {
            let position = Int(packedBefore - firstIndex)
            heldBytes -= entries[position].heldByteCount
            if case .draw = entries[position].effect { entries[position].message = [] }
            releasedBytes += entries[position].packedByteCount
            packedBefore += 1
        }
    }

    /// Removes the oldest operation.
    /// - Precondition: the log is not empty and its first operation is packed.
    mutating func popFirst() -> Operation {
        firstIndex += 1
        let operation = entries.removeFirst()
        releasedBytes -= operation.packedByteCount
        return operation
    }
}

extension Operation {
    /// Bytes of an operation without its message, about.
    private static var overhead: Int { 256 }

    /// Bytes that it keeps in memory alone in a list, about.
    var byteEstimate: Int {
        if case .draw(let stroke) = effect { return stroke.weight * BoardWeight.bytesOfUnit + Self.overhead }
        return message.count + Self.overhead
    }

    /// Bytes that it takes until it is packed.
    fileprivate var heldByteCount: Int {
        // Strokes from a checkpoint are packed already.
        if case .draw(let stroke) = effect, message.isEmpty { return stroke.byteCount + Self.overhead }
        return message.count + Self.overhead
    }

    /// Bytes that it takes when it is packed.
    fileprivate var packedByteCount: Int {
        if case .draw(let stroke) = effect { stroke.byteCount + Self.overhead } else { heldByteCount }
    }
}
