/// What is wrong with the daemons of a schedule, to see that the checks see it.
enum Fault: String, CaseIterable {
    /// Every eighth release goes nowhere.
    case losesReleases
    /// Rejections are kept to themselves.
    case losesAnswers
    /// Checkpoints have cursors that nobody has been shown.
    case overstatesCursors
    /// What is buffered counts as released before the server has it.
    case savesUnconfirmed
    /// What a lost connection had buffered does not go out again.
    case forgetsUnconfirmed
    /// Records count as saved that are not.
    case overstatesCoverage
    /// A gap is given up as soon as its author is told of it.
    case losesPatience
    /// Decisions take their time.
    case dawdles
    /// The video is believed to be half a second farther than it is.
    case hurries
}
