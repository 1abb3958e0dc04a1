import StrokeWire

/// The distances and times that the rules of the gate name.
enum GateThresholds {
    // Distances in media time, microseconds.

    /// Rule 4: how far ahead of the prediction a single sample is believed.
    static let forwardJump: Int64 = 5_000_000
    /// Rule 5: how far behind the video time a single sample is believed.
    static let backwardStep: Int64 = 1_000_000
    /// Rules 4 and 5: how far a second sample may be from what the first predicts.
    static let agreement: Int64 = 1_000_000
    /// Rule 6: a greater step back without `ep` stands for a new epoch.
    static let timelineRestart: Int64 = 10_000_000
    /// Rule 6: a straggler lies farther than this above the new epoch's clock …
    static let stragglerAhead: Int64 = 10_000_000
    /// … and no farther than this above the old epoch's last video time.
    static let stragglerBeyond: Int64 = 1_000_000
    /// Rule 7: an operation farther ahead of the fastest clock and of the epoch's anchor has no usable time …
    static let absurd: Int64 = 60_000_000
    /// … nor has one farther ahead of the fastest clock while the epoch has no anchor.
    static let absurdWithoutAnchor: Int64 = 86_400_000_000
    /// Rule 17: a time line whose video is this near to UTC is UTC.
    static let utcDistance: Int64 = 12 * 3_600_000_000
    /// Rule 17: an operation whose time lies farther below L runs ahead of the voice.
    static let behindLive: Int64 = 250_000
    /// Rule 17: a stroke without times of its points may have taken so long to draw.
    static let longestStroke: Int64 = 5_000_000
    /// Rule 18: the time of a draw lies farther below the author's last one, and below L, when the time line begins anew.
    static let teacherRestart: Int64 = 10_000_000
    /// Rule 9: what a pause adds, so that ink drawn on the still picture appears.
    static let pauseStep: Int64 = 1_000

    // Times on the local clock.

    /// Rule 3: the longest sample interval that counts; nanoseconds.
    static let longestInterval: Int64 = 10_000_000_000
    /// Rule 6: how long after a new epoch operations of the old one may come.
    static let stragglerTime = Duration.seconds(5)
    /// Rule 6: how long the room is not asked again for the same epoch.
    static let epochRetry = Duration.seconds(1)
    /// Rule 16: how long a clock may need to be heard after a restart, twice the longest sample interval.
    static let listening = Duration.seconds(1)
    /// Rule 17: how long after its last sample a clock tells the time at the teacher; nanoseconds.
    static let liveLifetime: Int64 = 600_000_000_000
    /// Rule 17: between two hints to an author; and how long an author counts as one behind.
    static let hintInterval = Duration.seconds(60)
    /// Rule 18: how much later than its age a cohort's clock may restart; nanoseconds.
    static let provisionalSlack: Int64 = 5_000_000_000
    /// Rule 18: for so long the first draw counts that may have begun a time line anew, and no later one.
    static let unjudgedTime = Duration.seconds(60)
    /// Rule 9: how long a pause lasts before ink drawn at its picture appears; nanoseconds.
    static let pauseDelay: Int64 = 500_000_000
    /// Rule 9: how long the end lasts before everything is released; nanoseconds.
    static let endDelay: Int64 = 2_000_000_000
}

extension MediaTime {
    /// No media time: every clock is past it.
    static var none: MediaTime { .distantPast }
}
