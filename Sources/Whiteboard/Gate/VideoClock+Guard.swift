import StrokeWire

/// A sample too far off to be believed alone.
struct ClockCandidate: Sendable {
    let anchor: ClockAnchor
    let number: Int64?
    let stream: String
}

/// Rules 4 and 5: which samples are believed.
extension VideoClock {
    enum Verdict {
        case believed
        case doubted
        case repeated
    }

    /// Judges a sample of the clock's own epoch.
    /// - Parameter media: the sample's media time, unwrapped.
    func verdict(on sample: ClockSample, media: MediaTime, at now: Instant) -> Verdict {
        if isRepeat(sample, at: now) { return .repeated }
        if sample.isDiscontinuity { return .believed }
        let ahead = media - prediction(at: now)
        if ahead <= MediaDistance.forwardJump, behind(media, at: now) <= MediaDistance.backwardStep { return .believed }
        guard let candidate else { return .doubted }
        let difference = media - candidate.anchor.media(at: now)
        return (-MediaDistance.agreement...MediaDistance.agreement).contains(difference) ? .believed : .doubted
    }

    /// Microseconds by which a media time lies behind V.
    func behind(_ media: MediaTime, at now: Instant) -> Int64 {
        videoTime(at: now) - media
    }

    /// Keeps a sample until the next one agrees with it or not.
    mutating func doubt(_ sample: ClockSample, media: MediaTime, at now: Instant) {
        candidate = ClockCandidate(
            anchor: ClockAnchor(media: media, received: now, rate: sample.rate, state: sample.state),
            number: sample.number, stream: sample.stream)
    }

    private func isRepeat(_ sample: ClockSample, at now: Instant) -> Bool {
        guard let given = sample.number else { return false }
        if let number, given <= number, isLive(at: now) { return true }
        // A sample that comes twice must not confirm itself.
        return candidate?.number == given && candidate?.stream == sample.stream
    }
}
