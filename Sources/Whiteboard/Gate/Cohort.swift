import StrokeWire

/// One cohort of a room: its cursor, and the clock that moves it.
struct Cohort: Sendable {
    let name: CohortName
    let settings: CohortSettings
    /// Nanoseconds.
    let maxHold: Int64
    /// Operations have waited for this cohort since they were logged, but not since before this.
    let waitsFrom: Instant
    /// Since when this value can release for the cohort.
    let began: Instant

    /// R: the last operation released.
    private(set) var released: UInt64
    /// When the last operation released was due: none is due before the one it follows.
    private var lastDue = Instant.distantPast
    /// nil until a sample was taken.
    var clock: VideoClock?
    /// A sample of an epoch that the log does not know yet.
    var waiting: WaitingSample?

    init(_ name: CohortName, settings: CohortSettings, released: UInt64, waitsFrom: Instant, at now: Instant) {
        self.name = name
        self.settings = settings
        self.released = released
        self.waitsFrom = waitsFrom
        maxHold = max(0, settings.maxHold.nanoseconds)
        began = now
    }

    /// Moves the cursor over the next operation.
    mutating func release(due: Instant, isLate: Bool) -> Release {
        released += 1
        lastDue = max(lastDue, due)
        return Release(cohort: name, index: released, isLate: isLate, due: lastDue)
    }

    /// Moves the cursor over operations that were released by another: none is due again.
    mutating func skip(to index: UInt64) {
        released = max(released, index)
    }
}

/// A sample that waits for its epoch to be written to the room's log.
struct WaitingSample: Sendable {
    let sample: ClockSample
    let received: Instant
    /// The epoch that it tells of.
    let epoch: Int64
}
