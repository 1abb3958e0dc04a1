public import StrokeWire

extension Gate {
    /// Moves every cohort's cursor over what is due, and appends one release for each operation and cohort: cohort by
    /// cohort, in the order of the log. Constant time an operation.
    public mutating func release(at now: Instant, into releases: inout [Release]) {
        let now = advance(to: now)
        for position in cohorts.indices {
            while cohorts[position].released < timeline.last,
                let due = cohorts[position].due(timeline[cohorts[position].released + 1]), due.instant <= now
            {
                releases.append(cohorts[position].release(due: due.instant, isLate: due.isLate))
            }
        }
    }

    /// Releases a cohort's operations through `index` late, whatever its clock and policy say: the room has no memory
    /// left to hold them. Does nothing for a cohort that does not exist.
    public mutating func force(
        _ name: CohortName, through index: UInt64, at now: Instant, into releases: inout [Release]
    ) {
        let now = advance(to: now)
        guard let position = position(of: name) else { return }
        while cohorts[position].released < min(index, timeline.last) {
            releases.append(cohorts[position].release(due: now, isLate: true))
        }
    }

    /// Rule 13: when ``release(at:into:)`` has something to do if nothing else happens; nil for never. Not before
    /// `now`. Ask again after every other call.
    public func nextRelease(after now: Instant) -> Instant? {
        var next: Instant?
        for position in cohorts.indices where cohorts[position].released < timeline.last {
            guard let due = cohorts[position].due(timeline[cohorts[position].released + 1]) else { continue }
            next = min(next ?? due.instant, due.instant)
        }
        return next.map { max($0, monotonic(now)) }
    }
}
