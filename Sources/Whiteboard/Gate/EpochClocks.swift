import StrokeWire

/// Rules 6 and 7: what a room's clocks say about the times of the operations of one epoch.
struct EpochClocks: Sendable {
    /// The epoch before this one, while operations may still straggle in from it.
    struct Old: Sendable {
        let number: Int64
        /// The farthest video time of it that a cohort has seen.
        let video: MediaTime
        /// When the epoch after it began.
        let ended: Instant
        /// Rule 18: whether that was provisional before: operations of it may have come earlier.
        let isNextForeseen: Bool
    }

    /// Rule 17: the media time at the teacher at an instant.
    struct Teacher: Sendable {
        let time: MediaTime
        let at: Instant

        func time(at instant: Instant) -> MediaTime { time + instant.nanoseconds(since: at) / 1000 }
    }

    enum Judgement: Equatable {
        case usable
        /// The operation belongs to that older epoch.
        case straggler(epoch: Int64)
        /// The time is too far ahead of every clock, and of the teacher's own time line.
        case absurd
    }

    /// The fastest clock's prediction: the teacher's video goes on when a clock falls silent.
    let fastest: MediaTime
    /// nil where no clock of the epoch tells its age.
    let teacher: Teacher?
    let old: Old?

    /// - Parameter anchor: that of the epoch in which the operation was logged.
    func judgement(of entry: GateTimeline.Entry, anchor: Epochs.Anchor?) -> Judgement {
        if let old, isStraggler(entry, of: old) { return .straggler(epoch: old.number) }
        guard entry.time > fastest + GateThresholds.absurd else { return .usable }
        let limit =
            anchor.map { $0.time(at: entry.loggedAt) + GateThresholds.absurd }
            ?? fastest + GateThresholds.absurdWithoutAnchor
        return entry.time > limit ? .absurd : .usable
    }

    private func isStraggler(_ entry: GateTimeline.Entry, of old: Old) -> Bool {
        guard entry.time <= old.video + GateThresholds.stragglerBeyond,
            entry.loggedAt - old.ended <= GateThresholds.stragglerTime,
            let reached = reached(at: entry.loggedAt, after: old)
        else { return false }
        return entry.time > reached + GateThresholds.stragglerAhead
    }

    /// How far the epoch's time line had come when an operation was logged; nil where nobody knows. A delayed video begins it
    /// when the teacher is far ahead on it already.
    private func reached(at loggedAt: Instant, after old: Old) -> MediaTime? {
        if let teacher { return max(fastest, teacher.time(at: loggedAt)) }
        return old.isNextForeseen && loggedAt < old.ended ? nil : fastest
    }
}

extension CohortTable {
    /// Rules 6 and 7: what the clocks of an epoch say about the times of its operations; nil without a clock.
    mutating func clocks(of epoch: Int64, in epochs: Epochs, at now: Instant) -> EpochClocks? {
        // No copies of clocks here: this runs once for each operation.
        var fastest: (position: Int, media: MediaTime)?
        var teacher: MediaTime?
        for position in indices where self[position].clock?.epoch == epoch {
            let media = self[position].clock?.prediction(at: now) ?? .none
            if media > fastest?.media ?? .none || fastest == nil { fastest = (position, media) }
            if let live = self[position].clock?.liveTime(at: now) { teacher = Swift.max(teacher ?? live, live) }
        }
        leader = fastest?.position
        return fastest.map {
            EpochClocks(
                fastest: $0.media, teacher: teacher.map { EpochClocks.Teacher(time: $0, at: now) },
                old: predecessor(of: epoch, in: epochs, at: now))
        }
    }

    /// What the clocks of an epoch say about an operation's time, and whether it lies within 60 s of one of them.
    ///
    /// One clock decides about times that are not far ahead of it: the fastest is not behind it.
    mutating func clocks(
        of epoch: Int64, in epochs: Epochs, near time: MediaTime, loggedAt: Instant, at now: Instant
    ) -> (clocks: EpochClocks?, isNear: Bool) {
        guard hasClocks else { return (nil, false) }
        if let leader, self[leader].clock?.epoch == epoch, let media = self[leader].clock?.prediction(at: now) {
            let ahead = time - media
            if time == .none { return (EpochClocks(fastest: media, teacher: nil, old: nil), false) }
            let mayStraggle = loggedAt - epochs.current.began <= GateThresholds.stragglerTime
            let reach = mayStraggle ? GateThresholds.stragglerAhead : GateThresholds.absurd
            if (-GateThresholds.absurd...reach).contains(ahead) {
                return (EpochClocks(fastest: media, teacher: nil, old: nil), true)
            }
        }
        let isNear = indices.contains { position in
            guard self[position].clock?.epoch == epoch, let media = self[position].clock?.prediction(at: now)
            else { return false }
            return (-GateThresholds.absurd...GateThresholds.absurd).contains(time - media)
        }
        return (clocks(of: epoch, in: epochs, at: now), isNear)
    }

    private func predecessor(of number: Int64, in epochs: Epochs, at now: Instant) -> EpochClocks.Old? {
        guard let epoch = epochs[number], let old = epochs.predecessor(of: number) else { return nil }
        var farthest = old.left
        for position in indices where self[position].clock?.epoch == old.number {
            farthest = Swift.max(farthest ?? .none, self[position].clock?.videoTime(at: now) ?? .none)
        }
        // A process that has not heard the video of the old epoch knows where the teacher's was.
        return (farthest ?? old.anchor?.time(at: epoch.began)).map {
            EpochClocks.Old(number: old.number, video: $0, ended: epoch.began, isNextForeseen: epoch.wasProvisional)
        }
    }
}
