/// What a student has seen so far.
public struct StudentReport: Sendable, Equatable {
    /// Operations applied one by one, released or out of the tail of a join.
    public internal(set) var applied = 0
    /// Of these, the ones that came late.
    public internal(set) var late = 0
    /// Messages dropped because their operation was there already.
    public internal(set) var repeats = 0
    /// Times that an operation was missing for longer than a moment.
    public internal(set) var gaps = 0
    /// Boards taken and tails applied.
    public internal(set) var joins = 0
    /// Joins that were not the first and not after a reconnect.
    public internal(set) var rejoins = 0
    /// Requests to join that were not answered or refused.
    public internal(set) var failedJoins = 0
    /// Operations and marks that did not fit the board.
    public internal(set) var divergences = 0
    /// Repeats that were not the same as before.
    public internal(set) var conflicts = 0
    /// Messages that could not be understood.
    public internal(set) var malformed = 0
    /// Times that more came than could wait, and was dropped.
    public internal(set) var overflows = 0

    /// Whether nothing was seen that should never happen. Losses may.
    public var isSound: Bool { divergences == 0 && conflicts == 0 && malformed == 0 }
}
