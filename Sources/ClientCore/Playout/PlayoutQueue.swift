package import StrokeWire

/// Holds what the service has released until a student's player has reached it.
///
/// A service releases an operation when the video of its cohort has passed it. A player may be behind its cohort: it has a
/// longer buffer, or is paused. The rule is the service's: a value is due when its time lies below the player's, and all before
/// it are gone. What went by without its time, as one of an earlier encoder session, or a wrong one, does not count for later ones.
package struct PlayoutQueue<Value: Sendable>: Sendable {
    private struct Held: Sendable {
        let value: Value
        /// nil: due with the value before it.
        let time: MediaTime?
        let bytes: Int
        /// What was counted when it came.
        let countedBefore: Duration
    }

    /// Between two looks at a player while something waits: its time is not known in advance.
    static var longestWait: Duration { .milliseconds(100) }
    private static var shortestWait: Duration { .milliseconds(4) }

    /// How long a value may wait while the player runs, or its time is not known: a safety net under a wrong time line.
    package var maximumHold: Duration
    /// A slice, whose first elements go without moving the rest; Deque fails in Embedded Swift 6.3 with elements that are
    /// references.
    private var queue: ArraySlice<Held> = []
    /// Of all values that wait.
    package private(set) var bytes = 0
    /// All time in which the player ran, or its time was not known.
    private var counted = Duration.zero
    private var lookedAt = Duration.zero
    private var lastTime: MediaTime?

    package init(maximumHold: Duration) { self.maximumHold = maximumHold }

    package var count: Int { queue.count }
    package var isEmpty: Bool { queue.isEmpty }

    /// The first values that wait, at most so many.
    package func prefix(_ count: Int) -> some Sequence<Value> { queue.prefix(count).lazy.map { $0.value } }

    /// How far the last value lies ahead of the player; zero while that is not known.
    package func lead(of player: MediaTime?) -> Duration {
        guard let player, let last = queue.last(where: { $0.time != nil })?.time, last > player else { return .zero }
        return .microseconds(last - player)
    }

    /// Adds a value; it may be due at once.
    ///
    /// - Parameters:
    ///   - time: its media time; nil for that of the value before it.
    ///   - isLate: whether the service released it although its time had not come: it waits for those before it only.
    ///   - bytes: what it weighs.
    ///   - player: its time now; nil while unknown.
    package mutating func add(
        _ value: Value, time: MediaTime?, isLate: Bool, bytes: Int, player: MediaTime?, at now: Duration
    ) {
        look(player, at: now)
        queue.append(Held(value: value, time: isLate ? nil : time, bytes: bytes, countedBefore: counted))
        self.bytes += bytes
    }

    /// Notes where the player is. Call it before ``takeDue(_:)``.
    package mutating func look(_ player: MediaTime?, at now: Duration) {
        // A paused player may take as long as it likes.
        if player == nil || player != lastTime { counted += now - lookedAt }
        (lookedAt, lastTime) = (now, player)
    }

    /// Removes the first value where it is due.
    package mutating func takeDue(_ player: MediaTime?) -> Value? {
        guard let first = queue.first else { return nil }
        if let time = first.time, counted - first.countedBefore < maximumHold {
            guard let player, time < player else { return nil }
        }
        queue.removeFirst()
        // The memory of those that are gone.
        if queue.isEmpty { queue = [] }
        bytes -= first.bytes
        return first.value
    }

    /// How long until the next look; nil where nothing waits.
    package func wait(_ player: MediaTime?) -> Duration? {
        guard let first = queue.first else { return nil }
        guard let player, let time = first.time else { return Self.longestWait }
        let wait = Duration.microseconds(time - player) + .milliseconds(1)
        return min(max(wait, Self.shortestWait), Self.longestWait)
    }

    /// Forgets all that waits.
    package mutating func removeAll() { self = PlayoutQueue(maximumHold: maximumHold) }
}
