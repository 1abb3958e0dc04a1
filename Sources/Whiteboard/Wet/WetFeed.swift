import DequeModule
import Ink
import StrokeWire

/// How far one growing stroke has gone out on one subject.
struct WetCursor: Sendable {
    let author: AuthorID
    let session: String?
    let number: Int64
    /// Once it is in the log.
    var index: UInt64?
    /// Points that are out, as they are now or as they were.
    var shown = 0
    /// When the points after ``shown`` were there to be sent.
    var freshSince: Instant
    /// No message before.
    var nextMessage = Instant.distantPast
    /// When the stroke, or a part of it, goes out again.
    var nextRepeat = Instant.distantFuture
    /// Where that part begins.
    var repeatFrom = 0
    /// Points below ``shown`` that have changed since they went out.
    private var stale: Range<Int>?
    /// When there is something to do for it; `distantFuture` for never.
    var wake = Instant.distantPast
    /// Whether an operation in the log holds it back.
    var isHeldBack = false
    /// The last update that has gone out, and whether with predicted points; at the head alone.
    var update: Int64 = 0
    var hasPredicted = false

    init(_ author: AuthorID, _ number: Int64, _ session: String?, index: UInt64?, at now: Instant) {
        (self.author, self.session, self.number, self.index) = (author, session, number, index)
        freshSince = now
    }

    /// Time between two messages of a stroke.
    static let interval = Duration.milliseconds(33)
    /// Time between two repeats of a stroke.
    static let repeatInterval = Duration.seconds(1)
    /// Points before the last one shown whose changes go out with the next message.
    static let nearby = 128

    func isOf(_ author: AuthorID, _ number: Int64, _ session: String?) -> Bool {
        self.number == number && self.author == author && self.session == session
    }

    /// Points of a message.
    struct Message {
        let first: Int
        let end: Int
        let interior: [UInt8]
        /// Points that go out for the first time.
        let newCount: Int
    }

    /// Takes the next message, if one is due now.
    /// - Parameters:
    ///   - due: number of points that may be seen now.
    ///   - isForced: whether one goes out although no point is new.
    mutating func message(
        of growing: GrowingPoints, due: Int, isForced: Bool = false, at now: Instant
    ) -> Message? {
        guard now >= nextMessage else { return nil }
        var (first, end) = (shown, due)
        if let change = nextChange, change.lowerBound < due {
            first = change.lowerBound
            end = max(due > shown ? due : 0, min(change.upperBound, due))
        }
        let isRepeat = now >= nextRepeat
        if isRepeat {
            nextRepeat = now + Self.repeatInterval
            // V may have stepped back: what lies at or above it does not go out again.
            if due >= shown { (first, end) = (min(stale?.lowerBound ?? repeatFrom, shown), due) }
        }
        guard end > first || isForced else { return nil }
        let interior: [UInt8]
        (interior, end) = growing.encoded(first..<max(first, end))
        let newCount = max(0, end - max(shown, first))
        if isRepeat { repeatFrom = end < shown ? end : 0 }
        if let range = stale, first <= range.lowerBound {
            stale = end < range.upperBound ? max(end, range.lowerBound)..<range.upperBound : nil
        }
        shown = max(shown, end)
        nextMessage = now + Self.interval
        if nextRepeat == .distantFuture { nextRepeat = now + Self.repeatInterval }
        return Message(first: first, end: end, interior: interior, newCount: newCount)
    }

    /// Changed points that go out with the next message. Those far behind the end wait for the next repeat: a small update
    /// must not have a whole stroke sent thirty times a second.
    var nextChange: Range<Int>? { stale.flatMap { shown - $0.lowerBound <= Self.nearby ? $0 : nil } }

    /// Notes that points in `range` are other ones than before, or new.
    /// - Parameter countBefore: number of points before.
    mutating func changed(_ range: Range<Int>, countBefore: Int, at now: Instant) {
        wake = .distantPast
        if shown >= countBefore { freshSince = now }
        guard range.lowerBound < shown else { return }
        let changed = range.lowerBound..<max(range.lowerBound + 1, min(range.upperBound, shown))
        stale = stale.map { min($0.lowerBound, changed.lowerBound)..<max($0.upperBound, changed.upperBound) } ?? changed
    }
}

extension Operation {
    /// Whether no stroke behind it may grow while it is held.
    fileprivate var holdsBackInk: Bool {
        if case .draw(let stroke) = effect { stroke.kind == .lasso } else { true }
    }
}

/// The strokes that grow for the students of one cohort, or at the head.
struct WetFeed: Sendable {
    /// nil at the head.
    let cohort: CohortName?
    var cursors: [WetCursor] = []
    /// The end of the log and the cohort's cursor for which the rest is computed.
    private var head: UInt64 = 0
    private var released: UInt64?
    /// Held strokes that may grow, in the order of the log.
    private(set) var growing: [UInt64] = []
    /// Authors of held strokes.
    private var authors: [AuthorID] = []
    /// Whether an operation is held behind which nothing grows.
    private var hasBarrier = false

    /// Held operations that are looked at. What comes behind them waits.
    private static let lookahead = 256

    /// Finds the held strokes that may grow: none behind a lasso or what is no draw, and of each author the first alone.
    /// - Parameter sessions: those of the last operations of the log.
    /// - Returns: false where nothing is another than at the last call.
    mutating func find(
        in log: borrowing OperationLog, after released: UInt64, through head: UInt64, sessions: Deque<String?>,
        at now: Instant
    ) -> Bool {
        guard self.released != released || self.head != head else { return false }
        var next = released + 1
        if self.released == released, head > self.head {
            // What is appended behind a barrier has to wait.
            next = hasBarrier ? head + 1 : self.head + 1
        } else {
            growing.removeAll(keepingCapacity: true)
            authors.removeAll(keepingCapacity: true)
            hasBarrier = false
            cursors.removeAll { cursor in cursor.index.map { $0 <= released } ?? false }
        }
        (self.released, self.head) = (released, head)
        while next <= head, !hasBarrier {
            let operation = log[next]
            if operation.holdsBackInk || next - released > Self.lookahead {
                hasBarrier = true
            } else if !authors.contains(operation.author) {
                authors.append(operation.author)
                growing.append(next)
                if !cursors.contains(where: { $0.index == next }) {
                    let place = sessions.count - 1 - Int(head - next)
                    add(
                        operation.author, operation.number, place < 0 ? nil : sessions[place], index: next, at: now)
                }
            }
            next += 1
        }
        wakeAll()
        return true
    }

    init(cohort: CohortName? = nil) { self.cohort = cohort }

    /// Starts a stroke.
    mutating func add(_ author: AuthorID, _ number: Int64, _ session: String?, index: UInt64?, at now: Instant) {
        cursors.append(WetCursor(author, number, session, index: index, at: now))
    }

    /// Has every stroke looked at again: the clock, the log or the cohort's place in it has changed.
    mutating func wakeAll() {
        for place in cursors.indices { cursors[place].wake = .distantPast }
    }

    /// Ends a stroke that is not in the log.
    /// - Returns: whether points of it are out.
    mutating func remove(_ author: AuthorID, _ number: Int64, _ session: String?) -> Bool {
        guard let place = placeOfUnlogged(author, number, session) else { return false }
        return cursors.remove(at: place).shown > 0
    }

    private func placeOfUnlogged(_ author: AuthorID, _ number: Int64, _ session: String?) -> Int? {
        cursors.firstIndex { $0.index == nil && $0.isOf(author, number, session) }
    }

    /// Notes an update of a stroke that is not in the log.
    /// - Parameters:
    ///   - range: points that are other ones than before, or new; nil where none are.
    ///   - countBefore: number of points before.
    mutating func updated(
        _ author: AuthorID, _ number: Int64, _ session: String?, _ range: Range<Int>?, countBefore: Int, at now: Instant
    ) {
        guard let place = placeOfUnlogged(author, number, session) else {
            return add(author, number, session, index: nil, at: now)
        }
        if let range {
            cursors[place].changed(range, countBefore: countBefore, at: now)
        } else {
            cursors[place].wake = .distantPast
        }
    }

    /// A stroke has come into the log.
    /// - Parameters:
    ///   - points: those of the operation; nil where it is no stroke.
    ///   - before: those of the updates.
    /// - Returns: false where points are out that the operation does not have: they have to be taken back.
    mutating func log(
        _ author: AuthorID, _ number: Int64, _ session: String?, as index: UInt64, _ points: GrowingPoints?,
        before: GrowingPoints, at now: Instant
    ) -> Bool {
        guard let place = placeOfUnlogged(author, number, session) else { return true }
        guard cursors[place].shown > 0, let points, points.count >= cursors[place].shown else {
            return cursors.remove(at: place).shown == 0
        }
        cursors[place].index = index
        let first = points.firstDifference(from: before)
        let common = first..<max(first, min(points.count, before.count))
        let last = common.last { points.model.points[$0] != before.model.points[$0] }
        cursors[place].changed(first..<(last.map { $0 + 1 } ?? first), countBefore: before.count, at: now)
        return true
    }

    /// Publishes the next message of a stroke, if one is due.
    /// - Parameters:
    ///   - clock: of the cohort; nil where nothing holds points back.
    ///   - time: that of the stroke.
    ///   - hasReaches: whether its points have times of their own.
    ///   - predicted: the number of the last update and its predicted points; at the head.
    mutating func step(
        _ place: Int, _ growing: GrowingPoints, _ style: WetStrokeStyle, clock: CohortClock?, time: MediaTime,
        hasReaches: Bool, predicted: (update: Int64, points: ArraySlice<StrokePoint>)? = nil, at now: Instant,
        _ effects: inout RoomEffects
    ) {
        func timeOf(_ point: Int) -> MediaTime { hasReaches ? time + growing.reach(through: point) : time }
        var due = growing.count
        if let clock {
            let video = clock.videoTime(at: now)
            due = hasReaches ? growing.count(before: video, from: time) : time < video ? growing.count : 0
        }
        let shown = cursors[place].shown
        let firstDue = shown < due ? clock?.instantPassing(timeOf(shown)) ?? .distantPast : .distantPast
        var isForced = false
        if let predicted, predicted.update > cursors[place].update {
            isForced = cursors[place].hasPredicted || !predicted.points.isEmpty
        }
        let freshSince = cursors[place].freshSince
        if let message = cursors[place].message(of: growing, due: due, isForced: isForced, at: now) {
            var ahead: [UInt8] = []
            if let predicted {
                cursors[place].update = predicted.update
                cursors[place].hasPredicted = !predicted.points.isEmpty
                if message.end == growing.count { ahead = PointEncoder.interior(of: Array(predicted.points)) }
                if ahead.count > GrowingPoints.messageBytes / 2 { ahead = [] }
            }
            let cursor = cursors[place]
            let body = WetRelease.encode(
                author: cursor.author, session: cursor.session, number: cursor.number, index: cursor.index,
                style: style, first: message.first, interior: message.interior[...], predicted: ahead[...])
            effects.list.append(
                .wet(
                    cohort,
                    WetPublication(body: body, newPoints: message.newCount, due: min(now, max(firstDue, freshSince)))))
        }
        cursors[place].wake = wake(place, growing.count, clock, timeOf, isWaiting: isForced, at: now)
    }

    private func wake(
        _ place: Int, _ count: Int, _ clock: CohortClock?, _ time: (Int) -> MediaTime, isWaiting: Bool, at now: Instant
    ) -> Instant {
        let cursor = cursors[place]
        var wake = Instant.distantFuture
        func consider(_ point: Int) {
            guard point < count, let passing = clock.map({ $0.instantPassing(time(point)) }) ?? now else { return }
            wake = min(wake, max(passing, cursor.nextMessage))
        }
        consider(cursor.shown)
        if let change = cursor.nextChange { consider(change.lowerBound) }
        if isWaiting { wake = min(wake, cursor.nextMessage) }
        if cursor.shown > 0 { wake = min(wake, max(cursor.nextRepeat, cursor.nextMessage)) }
        return wake == .distantFuture ? wake : max(wake, now + .nanoseconds(1))
    }

    /// Whether a stroke has to wait for what is held before it in the log. Points that come free are due from then on.
    mutating func isHeldBack(_ place: Int, at now: Instant) -> Bool {
        let cursor = cursors[place]
        let isHeld =
            cursor.index.map { !growing.contains($0) } ?? (hasBarrier || authors.contains(cursor.author))
        if cursor.isHeldBack, !isHeld { cursors[place].freshSince = now }
        cursors[place].isHeldBack = isHeld
        return isHeld
    }

    /// When there is something to do for a stroke; `distantFuture` for never.
    var nextWake: Instant { cursors.reduce(.distantFuture) { min($0, $1.wake) } }
}
