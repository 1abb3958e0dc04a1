public import StrokeWire

/// What a room asks the server to do. The room does nothing itself.
public enum RoomEffect: Sendable {
    /// Publish to the author.
    case feedback(AuthorID, Feedback)
    /// Publish to those who follow the head of the log.
    case head(Operation)
    /// Publish to a cohort. `due` is when the gate opened for it, for the lateness.
    case release(CohortName, Operation, isLate: Bool, due: Instant)
    /// Publish where a cohort stands.
    case mark(CohortName, Mark)
    /// Write to the room's log; it takes effect when it comes back.
    case record(ControlRecord)
}

/// The effects of one or several inputs, in order, and what they counted. Reused from input to input.
public struct RoomEffects: Sendable {
    public var list: [RoomEffect] = []
    public var counts = RoomCounts()

    public init() {}

    /// Forgets the effects that were carried out, keeps the memory.
    public mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        counts = RoomCounts()
    }
}

/// How often what happened in a room.
public struct RoomCounts: Sendable, Equatable {
    public var intake = IntakeCounts()
    public var draws = 0
    public var undos = 0
    public var redos = 0
    public var clears = 0
    /// Clock samples that were taken, and those that were not.
    public var samplesTaken = 0
    public var samplesIgnored = 0
    /// Clock samples that could not be read.
    public var samplesRejected = 0
    /// Media times too far ahead to be believed.
    public var clamped = 0

    public init() {}

    mutating func count(_ action: Action) {
        switch action {
        case .draw: draws += 1
        case .undo: undos += 1
        case .redo: redos += 1
        case .clear: clears += 1
        }
    }
}
