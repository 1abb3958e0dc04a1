import StrokeWire

/// Rules 6 and 7: what the clocks of a room say together.
extension Gate {
    /// What the clocks of an epoch say about the times of its operations, nil where it has none.
    func clocks(of epoch: Int64, at now: Instant) -> EpochClocks? {
        guard let fastest = farthest(of: epoch, { $0.prediction(at: now) }) else { return nil }
        return EpochClocks(fastest: fastest, old: epochBefore(epoch, at: now))
    }

    private func epochBefore(_ number: Int64, at now: Instant) -> EpochClocks.Old? {
        guard let epoch = timeline.epochs[number], let old = timeline.epochs.predecessor(of: number) else { return nil }
        let seen = farthest(of: old.number) { $0.videoTime(at: now) }
        guard let video = [seen, old.left].compactMap(\.self).max() else { return nil }
        return EpochClocks.Old(number: old.number, video: video, ended: epoch.began)
    }

    private func farthest(of epoch: Int64, _ reading: (VideoClock) -> MediaTime) -> MediaTime? {
        var result: MediaTime?
        for case let clock? in cohorts.lazy.map(\.clock) where clock.epoch == epoch {
            result = max(result ?? .none, reading(clock))
        }
        return result
    }
}
