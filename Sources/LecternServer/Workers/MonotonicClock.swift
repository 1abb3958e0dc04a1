import Glibc
import Whiteboard

/// The time of all rooms: the machine's monotonic clock.
enum MonotonicClock {
    static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
