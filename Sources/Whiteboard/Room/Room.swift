import StrokeWire

/// A room: its log, its board, and the cohorts that are shown it in step with their video.
///
/// A value without clocks or I/O. Whatever happens goes in by a `receive` or by `advance`, with the time; what is to
/// be done comes out as effects. Use it from one thread at a time.
public struct Room: Sendable {
    public let configuration: RoomConfiguration
    /// Names this life of the room; empty until somebody writes to it.
    public internal(set) var incarnation = ""
    /// The board at the head of the log.
    public internal(set) var head: Board
    /// The board where the log begins: what a new cohort starts from.
    var base: Board
    var intake: Intake
    var log = OperationLog()
    var shapes = ShapeTable()
    var origins = StrokeOrigins()
    var gate: Gate
    var followers: [CohortName: Follower] = [:]
    var logClock = LogClock()
    /// False while nothing can be published: no cursor moves then.
    var isOutputOpen = true
    var scratch: [Release] = []

    public init(configuration: RoomConfiguration, at now: Instant) {
        self.configuration = configuration
        head = Board(history: configuration.history, size: configuration.boardSize)
        base = head
        intake = Intake(configuration.intake)
        gate = Gate(configuration: configuration.cohorts, at: now)
        admitFollowers()
    }

    /// Says whether releases can be published. What becomes due meanwhile is released when they can be again.
    public mutating func setOutput(isOpen: Bool) {
        isOutputOpen = isOpen
    }

    /// Says how far the clock of the log, which gives messages their `loggedAt`, is ahead of the one that `now` comes
    /// from: zero until this is called. What cohorts have been shown and when is not moved by it.
    public mutating func setLogClock(ahead: Duration) {
        logClock = LogClock(ahead: ahead)
    }

    /// When `advance(to:into:)` has something to do, nil for never.
    public func nextWake(after now: Instant) -> Instant? {
        var earliest = intake.deadline.map(logClock.localTime)
        func consider(_ instant: Instant?) {
            if let instant { earliest = min(earliest ?? instant, instant) }
        }
        if isOutputOpen {
            consider(gate.nextRelease(after: now))
            consider(restDue)
            for follower in followers.values { consider(follower.nextMark) }
        }
        return earliest
    }

    /// Does what the passing of time asks for: releases what is due, reminds authors, gives up, marks, rests.
    public mutating func advance(to now: Instant, into effects: inout RoomEffects) {
        remind(at: now, into: &effects)
        guard isOutputOpen else { return }
        release(at: now, into: &effects)
        mark(at: now, into: &effects)
        rest(at: now)
    }

    /// Every cohort of the gate has a board of its own.
    mutating func admitFollowers() {
        for cohort in gate.cohortNames where followers[cohort] == nil {
            followers[cohort] = Follower(board: base)
        }
    }

    var context: IntakeContext {
        IntakeContext(limits: configuration.intake, head: head.index, lastClear: head.lastClear)
    }
}
