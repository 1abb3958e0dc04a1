import StrokeWire

/// The cohorts of a gate, by position and by name: their cursors over its timeline, and when each has its next operation
/// due.
///
/// Positions never change. The timeline belongs to the gate and is a parameter: after a change of it, or of a cohort, that
/// may move a due time, call ``reschedule(_:by:)`` or ``rescheduleAll(by:)``.
struct CohortTable: Sendable {
    let configuration: CohortsConfiguration
    private var cohorts: [Cohort] = []
    private var positions: [CohortName: Int] = [:]
    /// When the operation after each cohort's cursor is due.
    private var dues = DeadlineTree()
    /// Positions of the cohorts that hold nothing.
    private var atEnd: [Int] = []
    /// Grows with every change to the cohorts or to ``cursor(of:in:)`` of one of them.
    var cursorChanges: UInt64 = 0
    /// The greatest number of operations that a cohort was released since its cursor was saved.
    private(set) var mostUnsaved: UInt64 = 0
    /// Position of the cohort whose clock was the fastest of its epoch at the last comparison.
    var leader: Int?
    /// Whether any cohort has ever had a clock.
    var hasClocks = false

    /// The cohorts that exist from the beginning, where the timeline begins.
    init(_ configuration: CohortsConfiguration, waitsFrom: Instant, at now: Instant, by timeline: GateTimeline) {
        self.configuration = configuration
        for name in configuration.initialNames { add(name, waitsFrom: waitsFrom, at: now, by: timeline) }
    }
}

// MARK: - Cohorts

extension CohortTable: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { cohorts.count }

    subscript(position: Int) -> Cohort {
        get { cohorts[position] }
        _modify { yield &cohorts[position] }
    }
}

extension CohortTable {
    func position(of name: CohortName) -> Int? { positions[name] }

    subscript(name: CohortName) -> Cohort? { positions[name].map { cohorts[$0] } }

    /// The cohort whose cursor is farthest behind; of several the first.
    var slowest: (cohort: CohortName, released: UInt64)? {
        indices.min { self[$0].released < self[$1].released }.map { (self[$0].name, self[$0].released) }
    }

    /// Makes a cohort that is not configured, where the timeline begins.
    /// - Returns: its position; nil where the configuration allows no more.
    mutating func admit(_ name: CohortName, at now: Instant, by timeline: GateTimeline) -> Int? {
        guard configuration.open, count < configuration.maximum else { return nil }
        add(name, waitsFrom: now, at: now, by: timeline)
        // A sample makes it, or made it before a restart.
        cohorts[count - 1].noteVideo()
        return count - 1
    }

    private mutating func add(_ name: CohortName, waitsFrom: Instant, at now: Instant, by timeline: GateTimeline) {
        cursorChanges += 1
        positions[name] = count
        cohorts.append(
            Cohort(
                name, settings: configuration.settings(of: name), released: timeline.forgotten, waitsFrom: waitsFrom,
                at: now))
        dues.append(.distantFuture)
        reschedule(count - 1, by: timeline)
    }
}

// MARK: - Schedule

extension CohortTable {
    /// When a cohort has something to release if nothing else happens, the earliest of all; nil for never.
    var nextDue: Instant? { dues.earliest == .distantFuture ? nil : dues.earliest }

    /// Whether every cohort has released everything.
    var holdNothing: Bool { atEnd.count == count }

    /// Schedules the cohorts that held nothing, after an operation was appended.
    mutating func operationAppended(to timeline: GateTimeline) {
        guard !atEnd.isEmpty else { return }
        // Pauses of these cohorts count from when this operation was logged.
        cursorChanges += 1
        let waiting = atEnd
        atEnd.removeAll(keepingCapacity: true)
        for position in waiting { schedule(position, by: timeline) }
    }

    /// Recomputes when a cohort's next operation is due.
    mutating func reschedule(_ position: Int, by timeline: GateTimeline) {
        atEnd.removeAll { $0 == position }
        schedule(position, by: timeline)
    }

    mutating func rescheduleAll(by timeline: GateTimeline) {
        atEnd.removeAll(keepingCapacity: true)
        for position in cohorts.indices { schedule(position, by: timeline) }
    }

    /// - Precondition: `position` is not in ``atEnd``.
    private mutating func schedule(_ position: Int, by timeline: GateTimeline) {
        guard let next = timeline.operation(after: cohorts[position].released, ink: cohorts[position].settings.ink)
        else {
            dues[position] = .distantFuture
            atEnd.append(position)
            return
        }
        dues[position] = cohorts[position].due(next, timeline.epochs.foreseen(next))?.instant ?? .distantFuture
    }
}

// MARK: - Releasing

extension CohortTable {
    /// Moves every cohort's cursor over what is due, and appends one release for each operation and cohort: cohort by
    /// cohort, in log order.
    /// - Parameter mayRelease: whether to go on with the operation of this index. After a no the rest stays due.
    mutating func release(
        from timeline: GateTimeline, at now: Instant, into releases: inout [Release], while mayRelease: (UInt64) -> Bool
    ) {
        while let position = dues.first(dueAt: now) {
            defer { schedule(position, by: timeline) }
            let ink = cohorts[position].settings.ink
            while let next = timeline.operation(after: cohorts[position].released, ink: ink),
                let due = cohorts[position].due(next, timeline.epochs.foreseen(next)), due.instant <= now
            {
                guard mayRelease(cohorts[position].released + 1) else { return }
                releases.append(releaseNext(of: position, due: due.instant, isLate: due.isLate))
            }
        }
    }

    /// Releases a cohort's operations through `index`, which the timeline has, late.
    mutating func force(
        _ position: Int, through index: UInt64, from timeline: GateTimeline, at now: Instant,
        into releases: inout [Release]
    ) {
        guard cohorts[position].released < index else { return }
        while cohorts[position].released < index {
            releases.append(releaseNext(of: position, due: now, isLate: true))
        }
        schedule(position, by: timeline)
    }

    private mutating func releaseNext(of position: Int, due: Instant, isLate: Bool) -> Release {
        cursorChanges += 1
        let release = cohorts[position].release(due: due, isLate: isLate)
        mostUnsaved = Swift.max(mostUnsaved, release.index - Swift.min(cohorts[position].saved, release.index))
        return release
    }

    /// See ``Gate/begin(at:)``.
    mutating func begin(at start: Instant, by timeline: GateTimeline) {
        for position in cohorts.indices { cohorts[position].begin(at: start) }
        cursorChanges += 1
        rescheduleAll(by: timeline)
    }
}

// MARK: - Cursors

extension CohortTable {
    /// A cohort's cursor, as it is saved.
    func cursor(of cohort: Cohort, in timeline: GateTimeline) -> CohortCursor {
        cohort.cursor(next: timeline.operation(after: cohort.released))
    }

    /// Notes which cursors have been saved. A cohort that is not among them counts from index 0.
    mutating func noteSaved(_ cursors: [CohortName: CohortCursor]) {
        mostUnsaved = 0
        for position in cohorts.indices {
            let released = cohorts[position].released
            cohorts[position].saved = Swift.min(cursors[cohorts[position].name]?.released ?? 0, released)
            mostUnsaved = Swift.max(mostUnsaved, released - cohorts[position].saved)
        }
    }

    /// Moves a cohort forward to a cursor within the timeline.
    mutating func skip(_ position: Int, to cursor: CohortCursor, at now: Instant, by timeline: GateTimeline) {
        cohorts[position].skip(to: cursor, at: now)
        cursorChanges += 1
        reschedule(position, by: timeline)
    }

    /// Puts a cohort without a clock to a cursor within the timeline.
    mutating func replace(
        _ position: Int, at cursor: CohortCursor, waitsFrom: Instant, at now: Instant, by timeline: GateTimeline
    ) {
        let old = cohorts[position]
        cohorts[position] = Cohort(
            old.name, settings: old.settings, released: cursor.released, waitsFrom: waitsFrom, at: now)
        cohorts[position].noteVideo(of: old)
        skip(position, to: cursor, at: now, by: timeline)
    }
}
