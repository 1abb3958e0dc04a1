import StrokeWire

extension Cohort {
    /// When an operation is due, and by what.
    struct Due {
        let instant: Instant
        /// Whether the policy will have released it, not the clock.
        let isLate: Bool
    }

    /// When the operation at the head may be released if nothing else happens, nil for never.
    func due(_ entry: GateTimeline.Entry) -> Due? {
        let earliest = max(began, entry.loggedAt)
        guard settings.gate == .video else { return Due(instant: earliest, isLate: false) }
        let overdue = waitedTooLong(entry)
        guard let shown = clock?.shows(entry) else {
            return overdue.map { Due(instant: max(earliest, $0), isLate: true) }
        }
        if let overdue, overdue < shown { return Due(instant: max(earliest, overdue), isLate: true) }
        return Due(instant: max(earliest, shown), isLate: false)
    }

    /// Rule 10: when the operation has waited as long as it may.
    private func waitedTooLong(_ entry: GateTimeline.Entry) -> Instant? {
        guard settings.policy == .maxhold else { return nil }
        let end = max(entry.loggedAt, waitsFrom).advanced(byNanoseconds: maxHold)
        return max(end, clock?.stillUntil ?? end)
    }
}

extension VideoClock {
    /// Rules 3, 6 and 9: the first instant at which the clock lets the operation pass, nil for never.
    func shows(_ entry: GateTimeline.Entry) -> Instant? {
        guard entry.epoch <= epoch else { return nil }
        guard entry.epoch == epoch else { return entered }
        guard let end = endCounts else { return passes(entry.gateTime).map { max(entered, $0) } }
        return max(entered, min(end, passes(entry.gateTime) ?? end))
    }

    /// Rule 10: the first instant at which no live pause or stall excuses waiting.
    fileprivate var stillUntil: Instant {
        anchor.state.isStill ? liveUntil.advanced(byNanoseconds: 1) : thawed
    }
}
