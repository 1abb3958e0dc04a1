import StrokeWire

/// How far one growing stroke has gone out on one subject.
struct WetCursor: Sendable {
    let author: AuthorID
    let session: String?
    let number: Int64
    /// Once it is in the log.
    var index: UInt64?
    /// Points that are out as they are now.
    var sent = 0
    /// Points that are out, as they are now or as they were.
    var shown = 0
    /// When the points after ``sent`` were there to be sent.
    var freshSince: Instant
    /// No message before.
    var nextMessage = Instant.distantPast
    /// When the stroke, or a part of it, goes out again.
    var nextRepeat = Instant.distantFuture
    /// Where that part begins.
    var repeatFrom = 0
    /// The last update that has gone out, and whether with predicted points; at the head alone.
    var update: Int64 = 0
    var hasPredicted = false

    /// Time between two messages of a stroke.
    static let interval = Duration.milliseconds(33)
    /// Time between two repeats of a stroke.
    static let repeatInterval = Duration.seconds(1)

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
        var first = sent
        let isRepeat = now >= nextRepeat
        if isRepeat {
            nextRepeat = now + Self.repeatInterval
            // V may have stepped back: what lies at or above it does not go out again.
            if due >= sent { first = min(repeatFrom, sent) } else if !isForced { return nil }
        }
        guard due > first || isForced else { return nil }
        let (interior, end) = growing.encoded(first..<max(first, due))
        let newCount = max(0, end - max(shown, first))
        repeatFrom = isRepeat && end < sent ? end : isRepeat ? 0 : repeatFrom
        sent = max(sent, end)
        shown = max(shown, sent)
        nextMessage = now + Self.interval
        if nextRepeat == .distantFuture { nextRepeat = now + Self.repeatInterval }
        return Message(first: first, end: end, interior: interior, newCount: newCount)
    }

    /// Notes that points from `first` on are other ones than before, or new.
    /// - Parameter countBefore: number of points before.
    mutating func changed(from first: Int, countBefore: Int, at now: Instant) {
        if sent >= min(first, countBefore) { freshSince = now }
        sent = min(sent, first)
    }
}

/// The strokes that grow for the students of one cohort, or at the head.
struct WetFeed: Sendable {
    /// nil at the head.
    var cohort: CohortName?
    var cursors: [WetCursor] = []
    /// The log position and the cohort's cursor for which the rest is computed.
    var head: UInt64 = 0
    var released: UInt64?
    /// Held strokes that may grow, in the order of the log.
    var growing: [UInt64] = []
    /// Authors of held strokes.
    var authors: [AuthorID] = []
    /// Whether an operation is held behind which nothing grows.
    var hasBarrier = false

    /// Held operations that are looked at. What comes behind them waits.
    private static let lookahead = 256

    /// Finds the held strokes that may grow: none behind an undo, redo or clear, and of each author the first alone.
    mutating func find(in log: OperationLog, after released: UInt64, through head: UInt64) {
        guard self.released != released || self.head != head else { return }
        self.released = released
        self.head = head
        growing.removeAll(keepingCapacity: true)
        authors.removeAll(keepingCapacity: true)
        hasBarrier = false
        cursors.removeAll { cursor in cursor.index.map { $0 <= released } ?? false }
        guard released < head else { return }
        for index in released + 1...head {
            let operation = log[index]
            guard operation.action == .draw, index - released <= Self.lookahead else {
                hasBarrier = true
                return
            }
            guard !authors.contains(operation.author) else { continue }
            authors.append(operation.author)
            growing.append(index)
        }
    }

    /// Starts a stroke.
    /// - Returns: the place of its cursor.
    mutating func add(
        _ author: AuthorID, _ number: Int64, _ session: String?, index: UInt64?, at now: Instant
    ) -> Int {
        cursors.append(WetCursor(author: author, session: session, number: number, index: index, freshSince: now))
        return cursors.count - 1
    }

    /// Ends a stroke that is not in the log.
    /// - Returns: whether points of it are out.
    mutating func remove(_ author: AuthorID, _ number: Int64, _ session: String?) -> Bool {
        guard let place = cursors.firstIndex(where: { $0.index == nil && $0.isOf(author, number, session) }) else {
            return false
        }
        return cursors.remove(at: place).shown > 0
    }

    /// Notes that points of a stroke that is not in the log are other ones than before, or new.
    mutating func changed(
        _ author: AuthorID, _ number: Int64, _ session: String?, from first: Int, countBefore: Int, at now: Instant
    ) {
        guard let place = cursors.firstIndex(where: { $0.index == nil && $0.isOf(author, number, session) }) else {
            return
        }
        cursors[place].changed(from: first, countBefore: countBefore, at: now)
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
        guard let place = cursors.firstIndex(where: { $0.index == nil && $0.isOf(author, number, session) }) else {
            return true
        }
        guard cursors[place].shown > 0, let points, points.count >= cursors[place].shown else {
            return cursors.remove(at: place).shown == 0
        }
        cursors[place].index = index
        cursors[place].changed(from: points.firstDifference(from: before), countBefore: before.count, at: now)
        return true
    }

    /// Publishes the next message of a stroke, if one is due.
    /// - Parameters:
    ///   - clock: of the cohort; nil where nothing holds points back.
    ///   - time: that of the stroke.
    ///   - hasReaches: whether its points have times of their own.
    ///   - predicted: the number of the last update and its predicted points; at the head.
    /// - Returns: when there is more to do for it.
    mutating func step(
        _ place: Int, _ growing: GrowingPoints, _ style: WetStrokeStyle, clock: VideoClock?, time: MediaTime,
        hasReaches: Bool, predicted: (update: Int64, points: [StrokePoint])? = nil, at now: Instant,
        _ effects: inout RoomEffects
    ) -> Instant {
        func timeOf(_ point: Int) -> MediaTime { hasReaches ? time + growing.reaches[point] : time }
        var due = growing.count
        if let clock {
            let video = clock.videoTime(at: now)
            due =
                hasReaches
                ? growing.reaches.partitioningIndex { time + $0 >= video } : time < video ? growing.count : 0
        }
        let sent = cursors[place].sent
        let firstDue = sent < due ? clock?.passes(timeOf(sent)) ?? .distantPast : .distantPast
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
                if message.end == growing.count { ahead = PointEncoder.interior(of: predicted.points) }
                if ahead.count > GrowingPoints.messageBytes / 2 { ahead = [] }
            }
            var style = style
            // The board has one page.
            style.page = 0
            let cursor = cursors[place]
            let body = WetRelease.encode(
                author: cursor.author, session: cursor.session, number: cursor.number, index: cursor.index,
                style: style, first: message.first, interior: message.interior[...], predicted: ahead[...])
            effects.list.append(
                .wet(
                    cohort,
                    WetPublication(body: body, newPoints: message.newCount, due: min(now, max(firstDue, freshSince)))))
        }
        return wake(place, growing.count, clock, timeOf, isWaiting: isForced, at: now)
    }

    private func wake(
        _ place: Int, _ count: Int, _ clock: VideoClock?, _ time: (Int) -> MediaTime, isWaiting: Bool, at now: Instant
    ) -> Instant {
        let cursor = cursors[place]
        var wake = Instant.distantFuture
        if cursor.sent < count {
            let passes = clock.map { $0.passes(time(cursor.sent)) ?? .distantFuture } ?? now
            wake = passes == .distantFuture ? passes : max(passes, cursor.nextMessage)
        }
        if isWaiting { wake = min(wake, cursor.nextMessage) }
        if cursor.shown > 0 { wake = min(wake, max(cursor.nextRepeat, cursor.nextMessage)) }
        return wake == .distantFuture ? wake : max(wake, now + .nanoseconds(1))
    }

    /// Whether a stroke that is not in the log yet has to wait for what is.
    func holdsBack(_ author: AuthorID) -> Bool { hasBarrier || authors.contains(author) }
}
