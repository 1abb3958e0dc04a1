internal import DequeModule

/// The actions of a feed in their order. Events that take an event loop too long to compress are compressed elsewhere first, once
/// for all loops; what comes behind them waits meanwhile.
struct DeliveryQueue<Reader> {
    typealias Action = FeedState<Reader>.Action

    enum Step {
        case perform(Action)
        /// Compress these, not on an event loop, and call ``compressed(_:)``.
        case compress([StreamEvent], number: Int)
    }

    /// Bytes that an event loop compresses for one action, in about a millisecond.
    static var loopBytes: Int { 64 << 10 }
    /// Bytes of events that wait; beyond, all of them go out as they are.
    static var waitingBytes: Int { 32 << 20 }

    private var waiting: Deque<Action> = []
    private var bytes = 0
    private var number = 0

    /// - Returns: what to do now, in order.
    mutating func add(_ actions: [Action]) -> [Step] {
        var steps: [Step] = []
        for action in actions {
            // No reader sees it, and an answer takes time.
            if case .join = action {
                steps.append(.perform(action))
                continue
            }
            let isFirst = waiting.isEmpty
            guard !isFirst || action.uncompressedSize > Self.loopBytes else {
                steps.append(.perform(action))
                continue
            }
            waiting.append(action)
            bytes += action.size
            if isFirst { steps.append(compressFirst()) }
            if !isFirst, bytes > Self.waitingBytes { steps += takeAll() }
        }
        return steps
    }

    /// The events of a step are compressed; nothing where they do not wait any more.
    mutating func compressed(_ number: Int) -> [Step] {
        guard number == self.number, !waiting.isEmpty else { return [] }
        var steps: [Step] = []
        var isCompressed = true
        while let action = waiting.first {
            guard isCompressed || action.uncompressedSize <= Self.loopBytes else {
                steps.append(compressFirst())
                break
            }
            isCompressed = false
            waiting.removeFirst()
            bytes -= action.size
            steps.append(.perform(action))
        }
        return steps
    }

    private mutating func compressFirst() -> Step {
        number += 1
        return .compress(waiting.first?.events ?? [], number: number)
    }

    private mutating func takeAll() -> [Step] {
        defer { (waiting, bytes, number) = ([], 0, number + 1) }
        return waiting.map { .perform($0) }
    }
}

extension FeedState.Action {
    fileprivate var events: [StreamEvent] {
        switch self {
        case .send(let event), .reset(let event): [event]
        case .attach(_, let events, _): events
        case .refuse, .join: []
        }
    }

    fileprivate var size: Int { events.reduce(0) { $0 + $1.size } }
    fileprivate var uncompressedSize: Int { events.reduce(0) { $0 + $1.uncompressedSize } }
}
