package import StrokeWire

/// The media time of pictures while they pass: what is stamped into a live stream.
package struct StampClock: Sendable {
    /// Where the time of a picture comes from.
    package enum Source: Sendable, Equatable {
        /// So many pictures a second, exactly: for files.
        case rate(pictures: Int, seconds: Int)
        /// The moment at which a picture arrives, or, where the stream has presentation times, these, set against the
        /// arrival of the earliest pictures.
        case arrival
    }

    private let source: Source
    private let start: MediaTime
    /// Microseconds from a presentation time to the time that a picture is given, without `start`.
    private var offset: Int64?
    /// The least offset seen since `windowStart`, and the time of the last picture.
    private var least = Int64.max
    private var windowStart: Int64 = 0
    private var last: Int64 = 0
    /// When the time line was set against arrivals, for the first time or after a jump.
    private var begin: Int64 = 0

    /// The time over which the earliest picture is looked for.
    private static let window: Int64 = 10_000_000
    /// A deviation above this is a jump of the stream's time line, followed at once.
    private static let jump: Int64 = 1_000_000
    /// In the first window pictures that come earlier by this are: programs hold a stream back while they find out what it
    /// is, and then let it go in a burst.
    private static let burst: Int64 = 100_000

    package init(_ source: Source, start: MediaTime) {
        self.source = source
        self.start = start
    }

    /// The time of a picture.
    ///
    /// - Parameters:
    ///   - number: from 0.
    ///   - presentation: its presentation time in milliseconds, where the stream has one.
    ///   - elapsed: microseconds since the start, on a clock that never goes back.
    package mutating func time(number: Int, presentation: Int64?, elapsed: Int64) -> MediaTime {
        switch (source, presentation) {
        case (.rate(let pictures, let seconds), nil):
            let product = Int64(number).multipliedFullWidth(by: Int64(seconds) * 1_000_000)
            return start + Int64(pictures).dividingFullWidth(product).quotient
        case (.rate, let presentation?):
            if offset == nil { offset = -presentation * 1000 }
            return start + (presentation * 1000 + (offset ?? 0))
        case (.arrival, nil): return start + elapsed
        case (.arrival, let presentation?):
            return start + (presentation * 1000 + follow(presentation * 1000, elapsed))
        }
    }

    /// The encoder's clock and this machine's drift apart by some hundred parts in a million, and pictures arrive with
    /// jitter: the offset follows the earliest arrival of each window, by 1 ms a second at most.
    private mutating func follow(_ presentation: Int64, _ elapsed: Int64) -> Int64 {
        let arrival = elapsed - presentation
        guard let current = offset, abs(arrival - current) < Self.jump else {
            begin = elapsed
            return anchor(arrival, elapsed)
        }
        if elapsed - begin < Self.window, arrival < current - Self.burst { return anchor(arrival, elapsed) }
        least = min(least, arrival)
        let reach = max(0, elapsed - last) / 1000
        last = elapsed
        let target = elapsed - windowStart >= Self.window ? least : min(least, current)
        let next = current + max(-reach, min(target - current, reach))
        if elapsed - windowStart >= Self.window, next == target {
            least = .max
            windowStart = elapsed
        }
        offset = next
        return next
    }

    private mutating func anchor(_ arrival: Int64, _ elapsed: Int64) -> Int64 {
        offset = arrival
        least = arrival
        windowStart = elapsed
        last = elapsed
        return arrival
    }
}
