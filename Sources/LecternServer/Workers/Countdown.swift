import Synchronization

/// Calls something once, when it has been stepped down so many times. Safe from any thread.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let whenDone: @Sendable () -> Void

    init(_ count: Int, whenDone: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.whenDone = whenDone
    }

    @Sendable func step() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
    }
}
