import DequeModule
import StrokeWire
import Whiteboard

/// Work in the order in which it came, in two lanes that do not wait for each other: erasing a room takes seconds to minutes,
/// everything else milliseconds.
///
/// Bounded: each lane has ``pending`` at most, of which a few are under way. Work whose client has given up is dropped: it
/// would be carried out after somebody was told that nobody answers.
struct CommandQueue<Work: Sendable>: Sendable {
    enum Lane: CaseIterable {
        case erasures, others

        /// How much of it is under way at the same time.
        var slots: Int {
            switch self {
            case .erasures: 2
            case .others: 4
            }
        }
    }

    /// In each lane, waiting and under way.
    static var pending: Int { 64 }

    enum Refusal {
        case full, closed
    }

    private struct Waiting {
        let work: Work
        /// When its client last heard that it waits; at first, when it came.
        var heardAt: Instant
    }

    private struct State {
        var waiting: Deque<Waiting> = []
        var active = 0
    }

    private var lanes = Dictionary(uniqueKeysWithValues: Lane.allCases.map { ($0, State()) })
    private(set) var isClosed = false

    /// Takes work.
    /// - Returns: why not; nil when it is taken.
    mutating func add(_ work: Work, to lane: Lane, at now: Instant) -> Refusal? {
        guard !isClosed else { return .closed }
        guard var state = lanes[lane], state.active + state.waiting.count < Self.pending else { return .full }
        state.waiting.append(Waiting(work: work, heardAt: now))
        lanes[lane] = state
        return nil
    }

    /// Takes the work that can begin now; each is to be reported by ``end(in:)``.
    mutating func begin(at now: Instant) -> (begun: [(work: Work, lane: Lane)], dropped: [Work]) {
        var begun: [(Work, Lane)] = []
        var dropped: [Work] = []
        for lane in Lane.allCases {
            dropped += drop(in: lane, at: now)
            while let state = lanes[lane], state.active < lane.slots, let next = lanes[lane]?.waiting.popFirst() {
                lanes[lane]?.active += 1
                begun.append((next.work, lane))
            }
        }
        return (begun, dropped)
    }

    private mutating func drop(in lane: Lane, at now: Instant) -> [Work] {
        let isGivenUp = { (waiting: Waiting) in now - waiting.heardAt > CommandProgress.patience }
        let dropped = lanes[lane]?.waiting.filter(isGivenUp).map(\.work) ?? []
        if !dropped.isEmpty { lanes[lane]?.waiting.removeAll(where: isGivenUp) }
        return dropped
    }

    mutating func end(in lane: Lane) { lanes[lane]?.active -= 1 }

    /// What waits, with how much is before it in its lane: whoever asks gives each a sign of life.
    mutating func signOfLife(at now: Instant) -> [(work: Work, ahead: Int)] {
        var told: [(Work, Int)] = []
        for lane in Lane.allCases {
            guard var state = lanes[lane] else { continue }
            for place in state.waiting.indices {
                state.waiting[place].heardAt = now
                told.append((state.waiting[place].work, state.active + place))
            }
            lanes[lane] = state
        }
        return told
    }

    /// Takes no more.
    /// - Returns: what has waited.
    mutating func close() -> [Work] {
        isClosed = true
        var waiting: [Work] = []
        for lane in Lane.allCases {
            waiting += lanes[lane]?.waiting.map(\.work) ?? []
            lanes[lane]?.waiting = []
        }
        return waiting
    }
}
