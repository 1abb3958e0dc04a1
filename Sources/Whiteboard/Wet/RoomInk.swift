import DequeModule
import Ink
import StrokeWire

/// Points of strokes that grow, to be published.
public struct WetPublication: Sendable {
    /// The body of the message, a ``WetRelease``.
    public let body: [UInt8]
    /// Points in it that go out for the first time.
    public let newPoints: Int
    /// When the first of these could go out, for the measure of lateness.
    public let due: Instant
    /// Whether the stroke is over and nobody is to show it any more.
    public var isEnd = false
}

/// The strokes of a room that grow on students' screens: those being drawn, and those in the log that a cohort's video has
/// reached in part.
///
/// Output only: it reads the gate and the log, and changes neither. Costs nothing while no cohort is progressive and no
/// update comes. An update costs what its own points cost, and a look at the time of each other stroke of the room.
struct RoomInk: Sendable {
    private(set) var strokes = WetStrokes()
    /// By the positions of the cohorts; nil for those in which strokes appear whole.
    private var feeds: [WetFeed?] = []
    /// Only of strokes that are not in the log yet.
    private var head = WetFeed()
    /// Strokes of the log that grow in some cohort.
    private var logged: [UInt64: LoggedStroke] = [:]
    private var loggedBytes = 0
    /// The author's session of each operation that a progressive cohort may hold, the last of the log at the end; of those
    /// before a restart it is not known.
    private(set) var sessions: Deque<String?> = []
    private let hasProgressive: Bool
    /// Whether a clock or an epoch may have changed since the last ``advance(_:_:at:into:)``.
    private var hasClockChanged = true
    /// When ``advance(_:_:at:into:)`` has something to do; nil for never.
    private(set) var nextWake: Instant?

    private struct LoggedStroke: Sendable {
        let growing: GrowingPoints
        let style: WetStrokeStyle
    }

    /// Bytes of decoded strokes of the log. A stroke beyond does not grow, but appears whole.
    private static let loggedBound = 4 << 20

    init(_ configuration: RoomConfiguration) { hasProgressive = configuration.cohorts.hasProgressive }

    /// Notes that a clock or an epoch may have changed: what waits for a video is looked at again.
    mutating func noteClockChange() { hasClockChanged = true }

    /// Whether ``advance(_:_:at:into:)`` may have something to do.
    var isActive: Bool { hasProgressive || !strokes.isEmpty }

    /// Bytes that it keeps in memory, about.
    var byteCount: Int { strokes.byteCount + loggedBytes }

    /// Whether somebody has points of a stroke that is not over.
    var isShown: Bool {
        head.cursors.contains { $0.shown > 0 } || feeds.contains { $0?.cursors.contains { $0.shown > 0 } ?? false }
    }
}

// MARK: - Updates

extension RoomInk {
    /// Takes an update as it came.
    /// - Parameters:
    ///   - epoch: the epoch of a stroke by its time in milliseconds.
    ///   - shownPage: the page of strokes that name none.
    ///   - spare: bytes that may be added to what is kept.
    ///   - isSettled: whether the number of an operation is settled.
    mutating func receive(
        _ bytes: [UInt8], of author: AuthorID, session: String?, limits: IntakeLimits, epoch: (Int64?) -> Int64,
        shownPage: Int,
        spare: Int, at now: Instant, isSettled: (Int64) -> Bool, into effects: inout RoomEffects
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
                update, points, of: author, session: session, epoch: epoch(points.style.time),
                shownPage: shownPage, spare: spare, at: now)
            guard let change else { return outcome }
            let range = change.first.map { $0..<max($0, points.first + points.points.count) }
            for position in feeds.indices {
                feeds[position]?.updated(
                    author, update.number, session, range, countBefore: change.countBefore, at: now)
            }
            head.updated(author, update.number, session, range, countBefore: change.countBefore, at: now)
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

    /// Forgets the strokes of an author whose numbers are settled.
    mutating func forgetSettled(
        of author: AuthorID, _ isSettled: (Int64, String?) -> Bool, into effects: inout RoomEffects
    ) {
        guard strokes.hasStrokes else { return }
        forget(where: { $0 == author && isSettled($1.number, $1.session) }, into: &effects)
    }

    /// Forgets what an author is drawing. What is in the log grows on.
    mutating func forget(_ author: AuthorID, into effects: inout RoomEffects) {
        guard strokes.hasStrokes else { return }
        forget(where: { other, _ in other == author }, into: &effects)
    }

    /// Forgets everything, and tells those who have points of it: the room ends, or leaves memory.
    mutating func end(into effects: inout RoomEffects) {
        for feed in feeds.compactMap({ $0 }) + [head] {
            for cursor in feed.cursors where cursor.shown > 0 {
                effects.giveUp(feed.cohort, cursor.author, cursor.number, cursor.session)
            }
        }
        (strokes, feeds, head, logged, loggedBytes) = (WetStrokes(), [], WetFeed(), [:], 0)
        sessions = []
        hasClockChanged = true
        nextWake = nil
    }

    /// An operation has come into the log: cohorts that have points of it get the rest from there.
    mutating func logged(_ operation: Operation, session: String?, at now: Instant, into effects: inout RoomEffects) {
        if hasProgressive { sessions.append(session) }
        guard strokes.hasStrokes else { return }
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
    mutating func nameEpoch(_ old: Int64, _ new: Int64) { strokes.nameEpoch(old, new) }
}

// MARK: - Releasing

extension RoomInk {
    /// Publishes the points whose time has come.
    mutating func advance(
        _ gate: borrowing Gate, _ log: borrowing OperationLog, at now: Instant, into effects: inout RoomEffects
    ) {
        if let expiry = strokes.nextExpiry, expiry <= now {
            forget(where: { $1.updatedAt + WetStroke.lifetime <= now }, into: &effects)
            strokes.forgetSilent(at: now)
        }
        var wake = strokes.nextExpiry ?? .distantFuture
        var hasMoved = false
        var firstHeld = gate.timeline.last + 1
        for position in gate.cohorts.indices {
            if position == feeds.count { addFeed(of: gate.cohorts[position], at: now) }
            guard var feed = feeds[position] else { continue }
            // So that its cursors are not copied.
            feeds[position] = nil
            let cohort = gate.cohorts[position]
            let isMoved = feed.find(
                in: log, after: cohort.released, through: gate.timeline.last, sessions: sessions, at: now)
            firstHeld = min(firstHeld, cohort.released + 1)
            if hasClockChanged { feed.wakeAll() }
            hasMoved = hasMoved || isMoved
            for place in feed.cursors.indices where feed.cursors[place].wake <= now {
                feed.cursors[place].wake = .distantFuture
                guard !feed.isHeldBack(place, at: now) else { continue }
                if let index = feed.cursors[place].index {
                    grow(index, place, in: &feed, of: cohort, gate, log, at: now, &effects)
                } else {
                    draw(place, in: &feed, of: cohort, at: now, &effects)
                }
            }
            wake = min(wake, feed.nextWake)
            feeds[position] = feed
        }
        hasClockChanged = false
        for place in head.cursors.indices where head.cursors[place].wake <= now {
            drawAtHead(place, at: now, &effects)
        }
        // Where strokes may grow in cohorts that do not exist yet, none moves.
        let held = hasMoved ? Int(gate.timeline.last + 1 - firstHeld) : log.count
        if sessions.count > held { sessions.removeFirst(sessions.count - held) }
        if hasMoved, !logged.isEmpty { forgetReleased() }
        wake = min(wake, head.nextWake)
        nextWake = wake == .distantFuture ? nil : wake
    }

    /// Adds what a cohort has of the strokes.
    private mutating func addFeed(of cohort: Cohort, at now: Instant) {
        guard cohort.settings.ink == .progressive else { return feeds.append(nil) }
        var feed = WetFeed(cohort: cohort.name)
        for author in strokes.authors {
            for stroke in author.strokes { feed.add(author.id, stroke.number, stroke.session, index: nil, at: now) }
        }
        feeds.append(feed)
    }

    /// Publishes points of a held stroke of the log.
    private mutating func grow(
        _ index: UInt64, _ place: Int, in feed: inout WetFeed, of cohort: Cohort, _ gate: borrowing Gate,
        _ log: borrowing OperationLog, at now: Instant, _ effects: inout RoomEffects
    ) {
        let entry = gate.timeline[index]
        guard cohort.isGated, let clock = cohort.clock, clock.epoch == entry.epoch,
            entry.time != .none, let end = gate.timeline.end(of: index)
        else { return }
        guard clock.videoTime(at: now) > entry.time else {
            feed.cursors[place].wake =
                clock.instantPassing(entry.time).map { max($0, now + Self.leastWait) } ?? .distantFuture
            return
        }
        guard let stroke = loggedStroke(index, log) else { return }
        feed.step(
            place, stroke.growing, stroke.style, clock: clock, time: entry.time, hasReaches: end.reach > 0, at: now,
            &effects)
    }

    /// Publishes points of a stroke that is not in the log yet.
    private func draw(
        _ place: Int, in feed: inout WetFeed, of cohort: Cohort, at now: Instant, _ effects: inout RoomEffects
    ) {
        let cursor = feed.cursors[place]
        guard let stroke = strokes[cursor.author, cursor.number, cursor.session] else { return }
        var clock: CohortClock?
        if cohort.isGated {
            clock = cohort.clock
            guard clock?.epoch == stroke.epoch, stroke.style.time != nil else { return }
        } else if let end = cohort.listens(at: now) {
            feed.cursors[place].wake = end
            feed.cursors[place].freshSince = end
            return
        }
        feed.step(
            place, stroke.growing, stroke.shownStyle, clock: clock,
            time: MediaTime(milliseconds: stroke.style.time ?? 0), hasReaches: true, at: now, &effects)
    }

    private mutating func drawAtHead(_ place: Int, at now: Instant, _ effects: inout RoomEffects) {
        let cursor = head.cursors[place]
        head.cursors[place].wake = .distantFuture
        guard let stroke = strokes[cursor.author, cursor.number, cursor.session] else { return }
        head.step(
            place, stroke.growing, stroke.shownStyle, clock: nil, time: .none, hasReaches: false,
            predicted: (stroke.update, stroke.growing.model.predicted), at: now, &effects)
    }

    private static var leastWait: Duration { .milliseconds(1) }

    /// Forgets the decoded strokes that no cohort needs any more.
    private mutating func forgetReleased() {
        var needed: Set<UInt64> = []
        for case let feed? in feeds { needed.formUnion(feed.cursors.lazy.compactMap({ $0.index })) }
        guard logged.contains(where: { !needed.contains($0.key) }) else { return }
        logged = logged.filter { needed.contains($0.key) }
        loggedBytes = logged.values.reduce(0) { $0 + $1.growing.byteCount }
    }

    /// A stroke of the log, decoded.
    /// - Returns: nil where it cannot be, or is beyond the bound.
    private mutating func loggedStroke(_ index: UInt64, _ log: borrowing OperationLog) -> LoggedStroke? {
        if let known = logged[index] { return known }
        guard case .draw(let drawn) = log[index].effect, drawn.kind == .stroke || drawn.kind == .pointer,
            loggedBytes + GrowingPoints.byteCount(of: drawn.pointCount) <= Self.loggedBound,
            let (header, points) = drawn.decoded()
        else { return nil }
        let stroke = LoggedStroke(
            growing: GrowingPoints(points), style: WetStrokeStyle(header, page: drawn.page))
        logged[index] = stroke
        loggedBytes += stroke.growing.byteCount
        return stroke
    }
}

extension RoomEffects {
    /// Has the students of a cohort, or those at the head, forget a stroke.
    fileprivate mutating func giveUp(_ cohort: CohortName?, _ author: AuthorID, _ number: Int64, _ session: String?) {
        let release = WetRelease(author: author, session: session, number: number, .givenUp)
        list.append(.wet(cohort, WetPublication(body: release.encoded(), newPoints: 0, due: .distantPast, isEnd: true)))
    }
}
