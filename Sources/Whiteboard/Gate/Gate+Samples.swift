public import StrokeWire

extension Gate {
    /// A sample of a cohort's clock. Moves the clock, not the cursor: ``release(at:into:)`` does.
    public mutating func receive(_ sample: ClockSample, cohort name: CohortName, at now: Instant) -> ClockOutcome {
        let now = advance(to: now)
        if let position = position(of: name) { return take(sample, by: position, received: now, at: now) }
        guard configuration.open else { return .unknownCohort }
        guard let position = admit(name, at: now) else { return .tooManyCohorts }
        return take(sample, by: position, received: now, at: now)
    }

    func position(of name: CohortName) -> Int? {
        cohorts.firstIndex { $0.name == name }
    }

    /// - Parameter received: when the sample came; before now where it had to wait.
    mutating func take(
        _ sample: ClockSample, by position: Int, received: Instant, at now: Instant
    ) -> ClockOutcome {
        let clock = cohorts[position].clock
        if let clock, clock.stream != sample.stream, clock.isLive(at: received) { return .ignored(.otherStream) }
        let current = timeline.epochs.current.number
        if let epoch = sample.epoch, epoch > current { return wait(for: epoch, sample, by: position, at: now) }
        let epoch = sample.epoch ?? clock?.epoch ?? current
        guard let clock, clock.epoch >= epoch else {
            enter(epoch, with: sample, by: position, received: received, at: now)
            return .taken
        }
        if clock.epoch > epoch { return .ignored(.olderEpoch) }
        // One that waited for the log may have been overtaken.
        guard received >= clock.anchor.received else { return .ignored(.repeated) }
        return judge(sample, by: position, clock, at: received)
    }

    /// A sample of the epoch that the cohort is in.
    private mutating func judge(
        _ sample: ClockSample, by position: Int, _ clock: VideoClock, at received: Instant
    ) -> ClockOutcome {
        let media = sample.unwrappedMedia(near: clock.prediction(at: received))
        switch clock.verdict(on: sample, media: media, at: received) {
        case .repeated:
            return .ignored(.repeated)
        case .doubted:
            cohorts[position].clock?.doubt(sample, media: media, at: received)
            return .candidate
        case .believed:
            if sample.epoch == nil, clock.behind(media, at: received) > MediaDistance.newTimeLine {
                return startOver(sample, media: media, by: position, clock, at: received)
            }
            cohorts[position].clock?.take(sample, media: media, received: received)
            return .taken
        }
    }

    /// Rule 6: without `ep`, a time line that starts over stands for a new epoch.
    private mutating func startOver(
        _ sample: ClockSample, media: MediaTime, by position: Int, _ clock: VideoClock, at now: Instant
    ) -> ClockOutcome {
        let next = timeline.epochs.successor(of: clock.epoch)
        guard next > timeline.epochs.current.number else {
            enter(next, with: sample, by: position, received: now, at: now)
            return .taken
        }
        // The old clock goes on until the epoch is logged; samples until then confirm each other.
        cohorts[position].clock?.doubt(sample, media: media, at: now)
        return wait(for: next, sample, by: position, at: now)
    }
}
