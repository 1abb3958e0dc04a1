#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The processor time of a body on this thread: the least of several rounds, which other tests on the same processors
/// disturb little. Compare it only with other times of the same run, and with a wide margin.
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
