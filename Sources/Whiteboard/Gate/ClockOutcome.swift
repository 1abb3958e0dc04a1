/// What became of a clock sample.
public enum ClockOutcome: Sendable, Equatable {
    /// It moved its cohort's clock.
    case taken
    /// It is too far off to be believed alone (rules 4 and 5): it counts when the next one agrees.
    case candidate
    /// It changed nothing.
    case ignored(IgnoredSample)
    /// It names epochs that the room's log does not have. Write one epoch record for each to the log, in this order. The
    /// sample is kept and takes effect when the records come back by ``Gate/beginEpoch(_:at:now:)``. Returned again
    /// once a second while samples keep coming.
    case newEpochs([Int64])
    /// It waits for epoch records that were asked for less than a second ago.
    case awaitingEpoch
    /// The cohort does not exist and may not be made.
    case unknownCohort
    /// The room has as many cohorts as it may.
    case tooManyCohorts
}

/// Why a sample was ignored.
public enum IgnoredSample: Sendable, Equatable {
    /// Its number is not greater than the last one's, or it repeats the sample that waits for confirmation.
    case repeated
    /// It belongs to an epoch that its cohort has left.
    case olderEpoch
    /// It comes from another stream than the live one (rule 14).
    case otherStream
}
