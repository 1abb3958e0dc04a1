public import StrokeWire

/// What a room asks the server to do. The room does nothing itself.
public enum RoomEffect: Sendable {
    /// Publish to the author. The session is the one that it is about, nil for an unnamed one.
    case feedback(AuthorID, session: String?, Feedback)
    /// Publish to the head feed.
    case head(Operation)
    /// Publish to a cohort. `isLate` says that a policy released it, not the clock; a late stroke that the clock released
    /// has it false. `due` is when the operation could first be released, for the measure of lateness.
    case release(CohortName, Operation, isLate: Bool, due: Instant)
    /// Publish points of a stroke that grows, to a cohort or, for nil, to those at the head.
    case wet(CohortName?, WetPublication)
    /// Publish a position in the log: a cohort's, or, for nil, that of its end.
    case mark(CohortName?, Mark)
    /// Write to the room's log; it takes effect when it comes back.
    case record(ControlRecord)
}

/// The effects of one or several inputs, in order, and their counts. Reused from input to input.
public struct RoomEffects: Sendable {
    public var list: [RoomEffect] = []
    public var counts = RoomCounts()

    public init() {}

    /// Removes the effects and keeps their memory.
    public mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        counts = RoomCounts()
    }
}

/// Counts of events in a room.
public struct RoomCounts: Sendable, Equatable {
    public var intake = IntakeCounts()
    public var draws = 0
    public var undos = 0
    public var redos = 0
    public var clears = 0
    /// Pages shown.
    public var turns = 0
    /// Pages put in another order.
    public var arranges = 0
    /// Papers laid under pages.
    public var papers = 0
    /// Removals of entries.
    public var removals = 0
    /// Clock samples taken.
    public var samplesTaken = 0
    /// Clock samples ignored.
    public var samplesIgnored = 0
    /// Clock samples that could not be decoded.
    public var samplesRejected = 0
    /// Media times that were too far ahead (rule 7 of the gate).
    public var clamped = 0
    /// Operations whose times lay more than 250 ms below the time at the teacher when they were logged (rule 17).
    public var behindLive = 0
    /// Updates of strokes being drawn.
    public var wetUpdates: [WetOutcome: Int] = [:]

    public init() {}

    mutating func count(_ action: Action) {
        switch action {
        case .draw: draws += 1
        case .undo: undos += 1
        case .redo: redos += 1
        case .clear: clears += 1
        case .turn: turns += 1
        case .arrange: arranges += 1
        case .paper: papers += 1
        case .remove: removals += 1
        }
    }
}

extension RoomCounts {
    public static func += (left: inout RoomCounts, right: RoomCounts) {
        left.intake += right.intake
        left.draws += right.draws
        left.undos += right.undos
        left.redos += right.redos
        left.clears += right.clears
        left.turns += right.turns
        left.arranges += right.arranges
        left.papers += right.papers
        left.removals += right.removals
        left.samplesTaken += right.samplesTaken
        left.samplesIgnored += right.samplesIgnored
        left.samplesRejected += right.samplesRejected
        left.clamped += right.clamped
        left.behindLive += right.behindLive
        for (outcome, count) in right.wetUpdates { left.wetUpdates[outcome, default: 0] += count }
    }
}

/// Counts of events in the intake of a room.
public struct IntakeCounts: Sendable, Equatable {
    public var messages = 0
    public var repeats = 0
    /// Gaps that made an operation wait.
    public var gaps = 0
    /// Ranges of numbers that were given up.
    public var gaveUp = 0
    /// Strokes applied after they had been given up.
    public var late = 0
    public private(set) var rejected: [RejectionCode: Int] = [:]

    public init() {}

    mutating func reject(_ code: RejectionCode) { rejected[code, default: 0] += 1 }

    public static func += (left: inout IntakeCounts, right: IntakeCounts) {
        left.messages += right.messages
        left.repeats += right.repeats
        left.gaps += right.gaps
        left.gaveUp += right.gaveUp
        left.late += right.late
        for (code, count) in right.rejected { left.rejected[code, default: 0] += count }
    }
}
