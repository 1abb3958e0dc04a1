import TestSupport
import Whiteboard

/// A moment of the simulated world, nanoseconds after its beginning. Nobody in it sees it: daemons and servers have
/// clocks of their own.
struct Moment: Comparable, Hashable {
    let nanoseconds: Int64

    static func < (earlier: Moment, later: Moment) -> Bool { earlier.nanoseconds < later.nanoseconds }
    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: moment.nanoseconds + duration.wholeNanoseconds)
    }
    static func - (later: Moment, earlier: Moment) -> Duration { .nanoseconds(later.nanoseconds - earlier.nanoseconds) }
}

extension Duration {
    var wholeNanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

/// A monotonic clock: begins anywhere, and goes a little fast or slow.
struct LocalClock {
    private let origin: Int64
    private let began: Moment
    /// Millionths.
    private let drift: Int64

    init(at now: Moment, random: inout SeededGenerator) {
        began = now
        origin = Int64(random.int(1_000...1_000_000)) * 1_000_000_000
        drift = Int64(random.int(-200...200))
    }

    func time(at moment: Moment) -> Instant {
        let elapsed = moment.nanoseconds - began.nanoseconds
        return Instant(nanoseconds: origin + elapsed + elapsed * drift / 1_000_000)
    }

    /// The first moment at which the clock shows `time` or more.
    func moment(of time: Instant) -> Moment {
        let shown = time.nanoseconds - origin
        var elapsed = shown - shown * drift / 1_000_000
        while self.time(at: Moment(nanoseconds: began.nanoseconds + elapsed)) < time { elapsed += 1000 }
        return Moment(nanoseconds: began.nanoseconds + elapsed)
    }
}
