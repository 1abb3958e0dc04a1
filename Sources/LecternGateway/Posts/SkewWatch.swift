/// Whether ink and picture stay together in one cohort of a room: judges the skews of a minute at a time, or of longer
/// until enough have come.
struct SkewWatch {
    typealias Instant = ContinuousClock.Instant

    /// Skews on which nothing can be said yet, below so many.
    static let fewest = 5
    /// Skews that are kept; of more, an even part.
    static let kept = 512

    /// The last minute that was judged was bad.
    var isBad = false
    /// Somebody was told that it is bad.
    var isTold = false
    private(set) var updated: Instant
    private let window: Duration
    private var began: Instant
    private var count = 0
    /// In milliseconds; every `stride`th.
    private var skews: [Double] = []
    private var stride = 1

    init(window: Duration, at now: Instant) {
        self.window = window
        (began, updated) = (now, now)
    }

    /// Adds the skew of one observation, in milliseconds.
    /// - Returns: what the minute was like that ends with it.
    mutating func add(_ skew: Double, at now: Instant) -> SkewSummary? {
        // A pause says nothing about what was before it.
        if now - updated > window * 2 { start(at: now) }
        updated = now
        if count.isMultiple(of: stride) { skews.append(skew) }
        count += 1
        if skews.count == Self.kept {
            skews = skews.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            stride *= 2
        }
        guard now - began >= window, count >= Self.fewest else { return nil }
        defer { start(at: now) }
        return SkewSummary(skews, count: count)
    }

    private mutating func start(at now: Instant) {
        began = now
        count = 0
        skews.removeAll(keepingCapacity: true)
        stride = 1
    }
}

/// The skews of a minute, in milliseconds: positive where ink came after its picture.
struct SkewSummary: Equatable {
    /// Ink that is drawn less than a picture before its own, at 25 pictures a second, is not early.
    static let tolerance = 40.0
    /// The part of the observations that may be early, or late, without an alarm.
    static let maxPart = 0.05

    let count: Int
    let median: Double
    let p95: Double
    let earliest: Double
    /// The part that was early.
    let early: Double

    /// - Parameter skews: at least one; all, or an even part.
    init(_ skews: [Double], count: Int) {
        let sorted = skews.sorted()
        func quantile(_ part: Double) -> Double {
            sorted[max(Int((Double(sorted.count) * part).rounded(.up)) - 1, 0)]
        }
        self.count = count
        median = quantile(0.5)
        p95 = quantile(1 - Self.maxPart)
        earliest = sorted[0]
        early = Double(sorted.count { Self.isEarly($0) }) / Double(sorted.count)
    }

    static func isEarly(_ skew: Double) -> Bool { skew < -tolerance }

    /// Whether somebody should look after it.
    func isBad(over alarm: Duration) -> Bool {
        p95 > alarm / .milliseconds(1) || early > Self.maxPart
    }
}
