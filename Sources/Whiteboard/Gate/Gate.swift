/// The release gate of a room: which operations of its log each cohort's students may see.
///
/// A pure value; time is a parameter, monotonic, and one that goes back counts as not having moved. All operations
/// take it that ``release(at:into:)`` was called for what was due before. It grows by 32 bytes with each operation
/// until ``forget(through:)``, and is otherwise bounded by the number of cohorts.
public struct Gate: Sendable {
    /// The settings of its cohorts.
    public let configuration: CohortsConfiguration
    var cohorts: [Cohort]
    var timeline: GateTimeline
    /// The last epoch that the room was asked to log.
    var asked: (epoch: Int64, at: Instant)?
    private var latest: Instant
    private var takenClamped = 0

    /// A gate before the first operation after `index`.
    public init(configuration: CohortsConfiguration, after index: UInt64 = 0, at now: Instant) {
        self.configuration = configuration
        latest = now
        timeline = GateTimeline(after: index, at: now)
        cohorts = configuration.initialNames.map { name in
            Cohort(
                name, settings: configuration.settings(of: name), released: index, waitsFrom: .distantPast, at: now)
        }
    }

    /// A gate whose cohorts know nothing of the operations in `timeline` yet.
    init(configuration: CohortsConfiguration, timeline: GateTimeline, at now: Instant) {
        self.configuration = configuration
        latest = now
        self.timeline = timeline
        cohorts = configuration.initialNames.map { name in
            Cohort(
                name, settings: configuration.settings(of: name), released: timeline.forgotten, waitsFrom: now, at: now)
        }
    }

    /// The room's log grew by one operation, whose index is that of the last one plus one.
    /// - Parameters:
    ///   - time: its media time in milliseconds, any value; nil where the message gave none.
    ///   - loggedAt: when it came to be in the log. Counts as now when in the future, and as that of the operation
    ///     before when earlier.
    public mutating func append(time: Int64?, at loggedAt: Instant, now: Instant) {
        let now = advance(to: now)
        let clocks = clocks(of: timeline.epochs.current.number, at: now)
        timeline.append(time: time, at: min(loggedAt, now), clocks: clocks)
    }

    /// Drops what is kept of the operations through `index`, of those that every cohort has released. A cohort that
    /// comes to be later starts after them.
    public mutating func forget(through index: UInt64) {
        timeline.forget(through: min(index, slowestCohort?.released ?? index))
    }

    /// The operations counted as clamped (rule 7) since the last call.
    public mutating func takeClampedCount() -> Int {
        defer { takenClamped = timeline.clampedCount }
        return timeline.clampedCount - takenClamped
    }

    /// The time to reckon with from now on.
    mutating func advance(to now: Instant) -> Instant {
        latest = monotonic(now)
        return latest
    }

    /// `now`, unless the clock was read in another order than its values are used.
    func monotonic(_ now: Instant) -> Instant { max(latest, now) }
}
