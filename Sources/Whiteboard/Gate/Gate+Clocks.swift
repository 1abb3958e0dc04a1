import StrokeWire

/// Rules 6 and 7: what the clocks of a room say together.
extension Gate {
    /// What the clocks of an epoch say about the times of its operations, nil where it has none.
    func clocks(of epoch: Int64, at now: Instant) -> EpochClocks? {
        // No copies of clocks here: this runs with every operation.
        var fastest: MediaTime?
        for position in cohorts.indices where cohorts[position].clock?.epoch == epoch {
            fastest = max(fastest ?? .none, cohorts[position].clock?.prediction(at: now) ?? .none)
        }
        return fastest.map { EpochClocks(fastest: $0, old: epochBefore(epoch, at: now)) }
    }

    private func epochBefore(_ number: Int64, at now: Instant) -> EpochClocks.Old? {
        guard let epoch = timeline.epochs[number], let old = timeline.epochs.predecessor(of: number) else { return nil }
        var farthest = old.left
        for position in cohorts.indices where cohorts[position].clock?.epoch == old.number {
            farthest = max(farthest ?? .none, cohorts[position].clock?.videoTime(at: now) ?? .none)
        }
        return farthest.map { EpochClocks.Old(number: old.number, video: $0, ended: epoch.began) }
    }
}
