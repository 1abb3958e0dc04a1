import Dispatch
import Whiteboard

/// A thread that draws the rooms it is given, with their canvases.
///
/// Safe from any thread. Canvases and files that nobody asked for during the idle time are given back, after twice that
/// time at the latest.
final class Easel: Sendable {
    let renderer: BoardRenderer
    private let queue: DispatchQueue
    private let idleTime: Duration
    private let isSweeping = Locked(false)

    init(_ renderer: BoardRenderer, name: String, idleTime: Duration) {
        self.renderer = renderer
        self.idleTime = idleTime
        queue = DispatchQueue(label: name)
    }

    /// Does some work after all that was given before.
    func draw(_ work: @escaping @Sendable (BoardRenderer) -> Void) {
        queue.async { [self] in
            work(renderer)
            sweepLater()
        }
    }

    /// Returns when all work given so far is done.
    func finish() {
        queue.sync {}
    }

    /// One sweep is due at a time, as long as there is something to give back.
    private func sweepLater() {
        let isFirst = isSweeping.withLock { isSweeping in
            defer { isSweeping = true }
            return !isSweeping
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + idleTime / .seconds(1)) { [weak self] in
            guard let self else { return }
            renderer.giveBack(unusedSince: MonotonicClock.now() + (.zero - idleTime))
            isSweeping.withLock { $0 = false }
            if !renderer.isEmpty { sweepLater() }
        }
    }
}
