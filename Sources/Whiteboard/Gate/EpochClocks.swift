import StrokeWire

/// Rules 6 and 7: what a room's clocks say about the times of the operations of one epoch.
struct EpochClocks: Sendable {
    /// The epoch before this one, while operations may still straggle in from it.
    struct Old: Sendable {
        let number: Int64
        /// The farthest video time that a cohort has seen of it.
        let video: MediaTime
        /// When the epoch after it began.
        let ended: Instant
    }

    enum Judgement: Equatable {
        case usable
        /// Drawn to the picture of that older epoch.
        case straggler(epoch: Int64)
        /// Too far ahead of every clock to be true.
        case absurd
    }

    /// For so long after a new epoch operations of the old one may come.
    private static let stragglerTime = Duration.seconds(5)

    /// The fastest clock's prediction: a clock that fell silent has not stopped the teacher's video.
    let fastest: MediaTime
    let old: Old?

    func judgement(of entry: GateTimeline.Entry) -> Judgement {
        if let old, isStraggler(entry, of: old) { return .straggler(epoch: old.number) }
        return entry.time > fastest + MediaDistance.absurd ? .absurd : .usable
    }

    private func isStraggler(_ entry: GateTimeline.Entry, of old: Old) -> Bool {
        entry.time > fastest + MediaDistance.stragglerAhead && entry.time <= old.video + MediaDistance.stragglerBeyond
            && entry.loggedAt - old.ended <= Self.stragglerTime
    }
}
