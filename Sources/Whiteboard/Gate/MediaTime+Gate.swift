import StrokeWire

extension MediaTime {
    /// Stands for no time at all: every clock is past it.
    static var none: MediaTime { .distantPast }
}

/// The distances in media time that the rules name, in microseconds.
enum MediaDistance {
    /// Rule 4: how far ahead of the prediction a single sample is believed.
    static let forwardJump: Int64 = 5_000_000
    /// Rule 5: how far behind the video time a single sample is believed.
    static let backwardStep: Int64 = 1_000_000
    /// Rules 4 and 5: how far a second sample may be from what the first predicts.
    static let agreement: Int64 = 1_000_000
    /// Rule 6: a greater step back without `ep` stands for a new epoch.
    static let newTimeLine: Int64 = 10_000_000
    /// Rule 6: a straggler lies farther than this above the new epoch's clock …
    static let stragglerAhead: Int64 = 10_000_000
    /// … and no farther than this above the old epoch's last video time.
    static let stragglerBeyond: Int64 = 1_000_000
    /// Rule 7: operations farther ahead of the fastest clock have no usable time.
    static let absurd: Int64 = 60_000_000
    /// Rule 9: what a pause adds, so that ink drawn on the still picture appears.
    static let pauseStep: Int64 = 1_000
}
