import StrokeWire

/// Rule 6: epochs come from the clocks and take effect where they stand in the room's log.
extension Gate {
    /// For so long the room is not asked again for the same epoch.
    private static let patience = Duration.seconds(1)

    /// The epoch record `epoch` of the room's log, where it stands in the log. The first one names the epoch that is
    /// there already; one that is not greater than the current one changes nothing.
    /// - Parameter loggedAt: when the record came to be in the log. Counts as now when in the future.
    public mutating func beginEpoch(_ epoch: Int64, at loggedAt: Instant, now: Instant) {
        let now = advance(to: now)
        guard epoch > timeline.epochs.current.number else { return }
        if timeline.epochs.isNamed {
            timeline.begin(epoch, at: min(loggedAt, now))
        } else {
            timeline.name(epoch)
            for position in cohorts.indices where cohorts[position].clock != nil {
                cohorts[position].clock?.epoch = epoch
            }
        }
        for position in cohorts.indices { resume(position, at: now) }
    }

    /// Keeps a sample until its epoch is in the log.
    mutating func wait(
        for epoch: Int64, _ sample: ClockSample, by position: Int, at now: Instant
    ) -> ClockOutcome {
        if let number = sample.number, let waiting = cohorts[position].waiting, waiting.epoch == epoch,
            let last = waiting.sample.number, number <= last
        {
            return .ignored(.repeated)
        }
        cohorts[position].waiting = WaitingSample(sample: sample, received: now, epoch: epoch)
        if let asked, asked.epoch == epoch, now - asked.at < Self.patience { return .awaitingEpoch }
        asked = (epoch, now)
        // A room without a name takes its first record for one.
        let needsName = sample.epoch == nil && !timeline.epochs.isNamed
        return .newEpochs(needsName ? [epoch - 1, epoch] : [epoch])
    }

    /// Takes the sample that a cohort kept, when the log has come to its epoch.
    private mutating func resume(_ position: Int, at now: Instant) {
        let cohort = cohorts[position]
        guard let waiting = cohort.waiting, waiting.epoch <= timeline.epochs.current.number else { return }
        cohorts[position].waiting = nil
        if waiting.sample.epoch != nil {
            _ = take(waiting.sample, by: position, received: waiting.received, at: now)
        } else if let clock = cohort.clock, clock.epoch < waiting.epoch {
            enter(waiting.epoch, with: waiting.sample, by: position, received: waiting.received, at: now)
        }
    }

    /// The cohort's first sample of an epoch: its clock starts anew.
    mutating func enter(
        _ epoch: Int64, with sample: ClockSample, by position: Int, received: Instant, at now: Instant
    ) {
        let cohort = cohorts[position]
        if let clock = cohort.clock { timeline.leave(clock.epoch, at: clock.videoTime(at: now)) }
        let media = sample.unwrappedMedia(near: timeline.firstTime(after: cohort.released, of: epoch))
        cohorts[position].clock = VideoClock(
            sample, media: media, epoch: epoch, settings: cohort.settings, received: received, entered: now,
            after: cohort.clock)
        if let clocks = clocks(of: epoch, at: now) { timeline.judge(epoch: epoch, clocks: clocks) }
    }
}
