import StrokeWire

/// Points of strokes that grow, to be published.
public struct WetPublication: Sendable {
    /// The body of the message, a ``WetRelease``.
    public let body: [UInt8]
    /// Points in it that go out for the first time.
    public let newPoints: Int
    /// When the first of these could go out, for the measure of lateness.
    public let due: Instant
}

/// The strokes of a room that grow on students' screens: those being drawn, and those in the log that a cohort's video has
/// reached in part.
///
/// Output only: it reads the gate and the log, and changes neither. Costs nothing while no cohort is progressive and no
/// update comes.
struct RoomInk: Sendable {
    private(set) var strokes = WetStrokes()
    /// By the positions of the cohorts; nil for those in which strokes appear whole.
    private var feeds: [WetFeed?] = []
    /// Only of strokes that are not in the log yet.
    private var head = WetFeed()
    /// Strokes of the log that grow in some cohort.
    private var logged: [UInt64: LoggedStroke] = [:]
    private var loggedBytes = 0
    private let hasProgressive: Bool
    /// When ``advance(_:_:session:at:into:)`` has something to do; nil for never.
    private(set) var nextWake: Instant?

    private struct LoggedStroke: Sendable {
        let growing: GrowingPoints
        let style: WetStrokeStyle
    }

    /// Bytes of decoded strokes of the log. A stroke beyond does not grow, but appears whole.
    private static let loggedBound = 4 << 20

    init(_ configuration: RoomConfiguration) {
        hasProgressive = configuration.cohorts.hasProgressive
    }

    /// Whether ``advance(_:_:session:at:into:)`` may have something to do.
    var isActive: Bool { hasProgressive || !strokes.isEmpty }

    /// Bytes that it keeps in memory, about.
    var byteCount: Int { strokes.byteCount + loggedBytes }
}

// MARK: - Updates

extension RoomInk {
    /// Takes an update as it came.
    /// - Parameters:
    ///   - spare: bytes that may be added to what is kept.
    ///   - isSettled: whether the number of an operation is settled.
    mutating func receive(
        _ bytes: [UInt8], of author: AuthorID, session: String?, limits: IntakeLimits, epoch: Int64, spare: Int,
        at now: Instant, isSettled: (Int64) -> Bool, into effects: inout RoomEffects
    ) -> WetOutcome {
        if let refusal = strokes.admit(author, bytes: bytes.count, limit: limits.authors, at: now) { return refusal }
        guard let update = try? WetUpdate(decoding: bytes, limits: limits.wire) else { return .rejected }
        guard !isSettled(update.number) else { return .settled }
        switch update.content {
        case .givenUp:
            guard let stroke = strokes[author, update.number, session] else { return .givenUp }
            guard update.update > stroke.update else { return .repeated }
            forget(where: { $0 == author && $1.number == update.number && $1.session == session }, into: &effects)
            return .givenUp
        case .points(let points):
            let (outcome, change) = strokes.take(
                update, points, of: author, session: session, epoch: epoch, spare: spare, at: now)
            guard let first = change?.first, let before = change?.countBefore else { return outcome }
            for position in feeds.indices {
                feeds[position]?.changed(author, update.number, session, from: first, countBefore: before, at: now)
            }
            head.changed(author, update.number, session, from: first, countBefore: before, at: now)
            return outcome
        }
    }

    /// Forgets strokes, and tells those who have points of them.
    private mutating func forget(
        where isOver: (AuthorID, WetStroke) -> Bool, into effects: inout RoomEffects
    ) {
        for (author, stroke) in strokes.remove(where: isOver) {
            for position in feeds.indices {
                guard let name = feeds[position]?.cohort,
                    feeds[position]?.remove(author, stroke.number, stroke.session) == true
                else { continue }
                effects.giveUp(name, author, stroke.number, stroke.session)
            }
            if head.remove(author, stroke.number, stroke.session) {
                effects.giveUp(nil, author, stroke.number, stroke.session)
            }
        }
    }

    /// Forgets strokes whose numbers are settled.
    mutating func forgetSettled(
        _ isSettled: (AuthorID, Int64, String?) -> Bool, into effects: inout RoomEffects
    ) {
        guard strokes.hasStrokes else { return }
        forget(where: { isSettled($0, $1.number, $1.session) }, into: &effects)
    }

    /// An operation has come into the log: cohorts that have points of it get the rest from there.
    mutating func logged(_ operation: Operation, session: String?, at now: Instant, into effects: inout RoomEffects) {
        let (author, number) = (operation.author, operation.number)
        guard let wet = strokes[author, number, session] else { return }
        _ = strokes.remove { $0 == author && $1.number == number && $1.session == session }
        // The operation itself goes out at the head.
        _ = head.remove(author, number, session)
        var points: GrowingPoints?
        if case .draw(let stroke) = operation.effect { points = stroke.decoded().map { GrowingPoints($0.points) } }
        for position in feeds.indices {
            guard let name = feeds[position]?.cohort else { continue }
            let isKept = feeds[position]?.log(
                author, number, session, as: operation.index, points, before: wet.growing, at: now)
            if isKept == false { effects.giveUp(name, author, number, session) }
        }
    }

    /// See ``WetStrokes/nameEpoch(_:_:)``.
    mutating func nameEpoch(_ old: Int64, _ new: Int64) {
        strokes.nameEpoch(old, new)
    }
}

// MARK: - Releasing

extension RoomInk {
    /// Publishes the points whose time has come.
    /// - Parameter session: the session of an author's current sequence.
    mutating func advance(
        _ gate: borrowing Gate, _ log: borrowing OperationLog, session: (AuthorID) -> String?, at now: Instant,
        into effects: inout RoomEffects
    ) {
        forget(where: { $1.updatedAt + WetStroke.lifetime <= now }, into: &effects)
        strokes.forgetSilent(at: now)
        var wake = strokes.nextExpiry ?? .distantFuture
        var needed: Set<UInt64> = []
        for position in gate.cohorts.indices {
            let cohort = gate.cohorts[position]
            if position == feeds.count {
                feeds.append(cohort.settings.ink == .progressive ? WetFeed(cohort: cohort.name) : nil)
            }
            guard var feed = feeds[position] else { continue }
            feeds[position] = nil
            feed.find(in: log, after: cohort.released, through: gate.timeline.last)
            for index in feed.growing {
                wake = min(
                    wake, grow(index, in: &feed, of: cohort, gate, log, &needed, session: session, at: now, &effects))
            }
            for author in strokes.authors where !feed.holdsBack(author.id) {
                for stroke in author.strokes {
                    wake = min(wake, draw(stroke, of: author.id, in: &feed, of: cohort, at: now, &effects))
                }
            }
            feeds[position] = feed
        }
        for author in strokes.authors {
            for stroke in author.strokes { wake = min(wake, drawAtHead(stroke, of: author.id, at: now, &effects)) }
        }
        if logged.count > needed.count {
            logged = logged.filter { needed.contains($0.key) }
            loggedBytes = logged.values.reduce(0) { $0 + $1.growing.byteCount }
        }
        nextWake = wake == .distantFuture ? nil : wake
    }

    /// Publishes points of a held stroke of the log.
    /// - Returns: when there is more to do for it.
    private mutating func grow(
        _ index: UInt64, in feed: inout WetFeed, of cohort: Cohort, _ gate: borrowing Gate,
        _ log: borrowing OperationLog, _ needed: inout Set<UInt64>, session: (AuthorID) -> String?, at now: Instant,
        _ effects: inout RoomEffects
    ) -> Instant {
        let entry = gate.timeline[index]
        guard cohort.settings.gate == .video, let clock = cohort.clock, clock.epoch == entry.epoch,
            entry.time != .none, let end = gate.timeline.end(of: index)
        else { return .distantFuture }
        guard clock.videoTime(at: now) > entry.time else {
            return clock.passes(entry.time).map { max($0, now + Self.leastWait) } ?? .distantFuture
        }
        guard let stroke = loggedStroke(index, log) else { return .distantFuture }
        needed.insert(index)
        let operation = log[index]
        let place =
            feed.cursors.firstIndex { $0.index == index }
            ?? feed.add(operation.author, operation.number, session(operation.author), index: index, at: now)
        return feed.step(
            place, stroke.growing, stroke.style, clock: clock, time: entry.time, hasReaches: end.reach > 0, at: now,
            &effects)
    }

    /// Publishes points of a stroke that is not in the log yet.
    private func draw(
        _ stroke: WetStroke, of author: AuthorID, in feed: inout WetFeed, of cohort: Cohort, at now: Instant,
        _ effects: inout RoomEffects
    ) -> Instant {
        var clock: VideoClock?
        if cohort.settings.gate == .video {
            clock = cohort.clock
            guard clock?.epoch == stroke.epoch, stroke.style.time != nil else { return .distantFuture }
        }
        let place =
            feed.cursors.firstIndex { $0.index == nil && $0.isOf(author, stroke.number, stroke.session) }
            ?? feed.add(author, stroke.number, stroke.session, index: nil, at: now)
        return feed.step(
            place, stroke.growing, stroke.style, clock: clock,
            time: MediaTime(milliseconds: stroke.style.time ?? 0), hasReaches: true, at: now, &effects)
    }

    private mutating func drawAtHead(
        _ stroke: WetStroke, of author: AuthorID, at now: Instant, _ effects: inout RoomEffects
    ) -> Instant {
        let place =
            head.cursors.firstIndex { $0.isOf(author, stroke.number, stroke.session) }
            ?? head.add(author, stroke.number, stroke.session, index: nil, at: now)
        return head.step(
            place, stroke.growing, stroke.style, clock: nil, time: .none, hasReaches: false,
            predicted: (stroke.update, stroke.predicted), at: now, &effects)
    }

    private static var leastWait: Duration { .milliseconds(1) }

    /// A stroke of the log, decoded.
    /// - Returns: nil where it cannot be, or is beyond the bound.
    private mutating func loggedStroke(_ index: UInt64, _ log: borrowing OperationLog) -> LoggedStroke? {
        if let known = logged[index] { return known }
        guard case .draw(let drawn) = log[index].effect,
            loggedBytes + GrowingPoints.byteCount(of: drawn.pointCount) <= Self.loggedBound,
            let (header, points) = drawn.decoded()
        else { return nil }
        let stroke = LoggedStroke(
            growing: GrowingPoints(points),
            style: WetStrokeStyle(
                colour: header.colour, width: header.width, element: header.element, time: header.time,
                boardWidth: header.boardWidth, boardHeight: header.boardHeight))
        logged[index] = stroke
        loggedBytes += stroke.growing.byteCount
        return stroke
    }
}

extension RoomEffects {
    /// Has the students of a cohort, or those at the head, forget a stroke.
    fileprivate mutating func giveUp(_ cohort: CohortName?, _ author: AuthorID, _ number: Int64, _ session: String?) {
        let release = WetRelease(author: author, session: session, number: number, .givenUp)
        list.append(.wet(cohort, WetPublication(body: release.encoded(), newPoints: 0, due: .distantPast)))
    }
}
