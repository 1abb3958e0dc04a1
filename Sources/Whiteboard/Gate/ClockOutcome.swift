/// What became of a clock sample.
public enum ClockOutcome: Sendable, Equatable {
    /// It moved its cohort's clock.
    case taken
    /// It is too far off to be believed alone (rules 4 and 5): it counts when the next one agrees.
    case candidate
    /// It changed nothing.
    case ignored(IgnoredSample)
    /// It tells of epochs that the room's log does not know. One epoch record for each is to be written to the log, in
    /// this order; the sample is kept and takes effect when they come back by ``Gate/beginEpoch(_:at:now:)``. Asked for
    /// again once a second while samples keep coming.
    case newEpochs([Int64])
    /// It waits for epoch records that were asked for less than a second ago.
    case awaitingEpoch
    /// The cohort does not exist and may not come to exist.
    case unknownCohort
    /// The cohort could come to exist, but the room has as many as it may.
    case tooManyCohorts
}

/// Why a sample was ignored.
public enum IgnoredSample: Sendable, Equatable {
    /// Its number is not greater than the last one's, or it repeats the sample that waits for a second opinion.
    case repeated
    /// It belongs to an epoch that its cohort has left.
    case olderEpoch
    /// It comes from another stream than the live one (rule 14).
    case otherStream
}
