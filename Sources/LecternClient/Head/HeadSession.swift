import StrokeWire

/// Follows the head feed of a room: operations as soon as they are applied, ungated.
///
/// Nothing can be asked for here: who starts late starts with what comes next, a gap is told and passed over. Digests
/// are verified as long as everything since operation 1 was seen.
public struct HeadSession: Sendable {
    /// What was seen so far.
    public private(set) var report = StudentReport()
    /// Index of the last operation, 0 before the first.
    public private(set) var index: UInt64 = 0
    private var room: String?
    /// The board; nil when something of it was never seen.
    private var board: StudentBoard?
    private var assembly: (index: UInt64, shards: OperationAssembly)?
    private var memory = ReleaseMemory()

    /// One who has seen nothing yet.
    public init() {}

    /// A message on `.head`.
    /// - Returns: what happened; `applied` carries the service's digest where the board is not known.
    public mutating func receive(_ message: ReleasedMessage) -> [StudentEvent] {
        var events: [StudentEvent] = []
        if message.room != room {
            room = message.room
            index = message.index &- 1
            board = message.index == 1 ? StudentBoard() : nil
            assembly = nil
            events.append(.joined(room: message.room, index: index, digest: board?.digest ?? .empty, visible: 0))
        }
        if !memory.agrees(with: message) {
            report.conflicts += 1
            events.append(.problem(.conflict(index: message.index)))
        }
        guard message.index > index else {
            report.repeats += 1
            return events
        }
        guard let operation = complete(message) else { return events }
        if operation.index != index &+ 1 {
            report.gaps += 1
            events.append(.problem(.gap(after: index)))
            board = nil
        }
        apply(operation, saying: message.digest, &events)
        return events
    }

    /// A message that could not be understood.
    public mutating func receiveMalformed(_ why: String) -> [StudentEvent] {
        report.malformed += 1
        return [.problem(.malformed(why))]
    }

    /// So many messages were dropped unread, all in all; they show as gaps.
    public mutating func inputDropped(_ count: Int) {
        report.overflows = count
    }

    /// Shards of an operation follow each other; one that is followed by another operation before it is complete is
    /// a gap.
    private mutating func complete(_ message: ReleasedMessage) -> ReleasedOperation? {
        var shards = OperationAssembly(startingWith: message, at: .zero)
        if let assembly, assembly.index == message.index { shards = assembly.shards }
        shards.add(message)
        let operation = shards.operation
        assembly = operation == nil ? (message.index, shards) : nil
        return operation
    }

    private mutating func apply(
        _ operation: ReleasedOperation, saying digest: BoardDigest, _ events: inout [StudentEvent]
    ) {
        index = operation.index
        report.applied += 1
        if operation.isLate { report.late += 1 }
        do throws(StudentBoard.Divergence) {
            try board?.apply(operation)
        } catch {
            report.divergences += 1
            events.append(.problem(.divergence(error.description)))
            board = nil
        }
        events.append(.applied(operation, room: room ?? "", digest: board?.digest ?? digest))
    }
}
