import Journal
import NATSClient

/// Keeps barriers until it is opened; passes them from then on.
final class BarrierKeeper: Sendable {
    private struct State {
        var kept: [JournalBarrier] = []
        var isOpen = false
        var count = 0
    }

    private let state = Locked(State())

    /// How many there have been.
    var count: Int { state.withLock { $0.count } }

    func take(_ barrier: JournalBarrier) {
        let passes = state.withLock { state in
            state.count += 1
            if !state.isOpen { state.kept.append(barrier) }
            return state.isOpen
        }
        if passes { barrier.pass() }
    }

    func open() {
        let kept = state.withLock { state in
            state.isOpen = true
            defer { state.kept = [] }
            return state.kept
        }
        for barrier in kept { barrier.pass() }
    }
}
