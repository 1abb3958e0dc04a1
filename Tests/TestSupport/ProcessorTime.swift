#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The processor time that a body takes on this thread: the least of several rounds, so that other tests on the same
/// processors count little. Times of one run are only good to be compared with each other, with a wide factor.
package func leastProcessorTime(rounds: Int = 7, of body: () throws -> Void) rethrows -> Duration {
    var least: Duration?
    for _ in 0..<rounds {
        let start = processorTime()
        try body()
        let taken = processorTime() - start
        least = min(least ?? taken, taken)
    }
    return least ?? .zero
}

private func processorTime() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
}
