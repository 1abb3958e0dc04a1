import Ink
public import StrokeWire
import Whiteboard

/// The strokes of a board that are being drawn: wet until their operation replaces them.
///
/// A service sends the points of a stroke as the video of the cohort passes them. Nothing depends on them: what is lost comes
/// again, and in the end the operation has all points. Bounded to ``mostStrokes`` and ``mostPoints``; what is beyond appears
/// with its operation.
public struct WetInk: Sendable {
    /// A stroke that is still being drawn, with the points received so far.
    public struct Stroke: Sendable {
        public let author: AuthorID
        /// The number that its operation has or will have.
        public let number: Int64
        let session: String?
        public fileprivate(set) var style = WetStrokeStyle()
        /// The page that it is on.
        public fileprivate(set) var page = 0
        fileprivate(set) var growing = GrowingPoints()
        /// Whether the operation is there: these are all points.
        fileprivate(set) var isComplete = false
        /// Points that were shown; none is taken back.
        fileprivate(set) var shown = 0
        fileprivate var heardAt: Duration
        /// What of it is shown: changes with every point that is.
        fileprivate(set) var drawnAs: Drawn?

        fileprivate var start: MediaTime? { style.time.map { MediaTime(milliseconds: $0) } }

        fileprivate func count(before time: MediaTime) -> Int {
            guard let start else { return growing.count }
            return growing.count(before: time, from: start)
        }

        /// When a point may be seen; nil for at once.
        fileprivate func due(_ place: Int) -> MediaTime? { start.map { $0 + growing.reach(through: place) } }

        /// The points that are shown, in board units, predicted ones behind them.
        public var points: ArraySlice<StrokePoint> {
            let points = growing.model.points
            return shown == growing.count ? points[...] : points[..<shown]
        }
    }

    /// A picture of a stroke: another one has another number.
    struct Drawn: Sendable, Equatable {
        let id: UInt64
        fileprivate let version: UInt64
        fileprivate let count: Int
    }

    /// A stroke that has more points to show than before.
    struct Growth: Sendable {
        let author: AuthorID
        let number: Int64
        /// How many are shown now.
        let points: Int
        /// When the first of the new ones was due; nil for at once.
        let due: MediaTime?
    }

    private struct Finished: Sendable {
        let author: AuthorID
        let number: Int64
        let session: String?
        let at: Duration
    }

    /// Strokes at a time.
    static let mostStrokes = 64
    /// Points of all strokes, 48 bytes each.
    static let mostPoints = 400_000
    static let mostPointsOfOne = 100_000
    private static let mostFinished = 1024
    /// A stroke without a message is forgotten after this, and one that is over is remembered as long.
    static let lifetime = Duration.seconds(10)
    /// Pictures of strokes have ids from here on, above those of operations and of what a page shows itself.
    static let firstID: UInt64 = 1 << 60

    /// In the order in which they were begun; one without ``Stroke/points`` is not shown yet.
    public private(set) var strokes: [Stroke] = []
    /// Strokes whose operation is shown: a message that comes after it is late.
    private var finished: [Finished] = []
    private var points = 0
    private var nextID = firstID

    init() {}

    var isEmpty: Bool { strokes.isEmpty }

    /// Receives a message.
    /// - Parameter showsPredicted: whether predicted points are shown.
    /// - Returns: whether a stroke that was shown was given up.
    mutating func receive(_ release: WetRelease, showsPredicted: Bool, at now: Duration) -> Bool {
        var known = place(release.author, release.number, release.session)
        // A service that was restarted does not know the sessions of what is in the log.
        if known == nil, release.index != nil, release.session == nil { known = place(release.author, release.number) }
        guard case .points(var wet) = release.content else { return known.map { remove($0) } ?? false }
        let isOver = finished.contains {
            $0.number == release.number && $0.author == release.author && $0.session == release.session
        }
        if isOver, release.index == nil { return false }
        let count = known.map { strokes[$0].growing.count } ?? 0
        let end = wet.first + wet.points.count
        let growth = max(end - count, 0)
        guard wet.first <= count, end <= Self.mostPointsOfOne, points + growth <= Self.mostPoints,
            known != nil || strokes.count < Self.mostStrokes
        else { return false }
        let place = known ?? begin(release.author, release.number, release.session, at: now)
        strokes[place].heardAt = now
        guard !strokes[place].isComplete else { return false }
        if !showsPredicted { wet.predicted = [] }
        (strokes[place].style, strokes[place].page) = (wet.style, wet.style.page ?? 0)
        strokes[place].growing.take(wet)
        points += growth
        return false
    }

    /// An operation is there that waits for the player: its points replace those that came before. One beyond the bounds stays
    /// as it is.
    /// - Parameters:
    ///   - number: the operation's.
    ///   - pointCount: how many points it has.
    mutating func complete(_ operation: ReleasedOperation, number: Int64, pointCount: Int, at now: Duration) {
        let known = place(operation.author, number)
        if let known, strokes[known].isComplete { return }
        let growth = pointCount - (known.map { strokes[$0].growing.count } ?? 0)
        guard pointCount <= Self.mostPointsOfOne, points + growth <= Self.mostPoints,
            known != nil || strokes.count < Self.mostStrokes
        else { return }
        var all: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: operation.bytes, limits: .accepted, points: &all) else {
            return
        }
        let place = known ?? begin(operation.author, number, nil, at: now)
        points += all.count - strokes[place].growing.count
        strokes[place].isComplete = true
        strokes[place].page = operation.page
        strokes[place].style = WetStrokeStyle(header, page: operation.page)
        strokes[place].growing.complete(with: all)
        strokes[place].shown = min(strokes[place].shown, all.count)
    }

    /// The board shows an operation.
    /// - Returns: whether its stroke was shown while it was drawn.
    mutating func settle(_ author: AuthorID, _ number: Int64, at now: Duration) -> Bool {
        guard let place = place(author, number) else { return false }
        if finished.count == Self.mostFinished { finished.removeFirst() }
        finished.append(Finished(author: author, number: number, session: strokes[place].session, at: now))
        return remove(place)
    }

    /// Forgets strokes of which nothing was heard for long.
    /// - Returns: whether one of them was shown.
    mutating func expire(at now: Duration) -> Bool {
        finished.removeAll { $0.at + Self.lifetime < now }
        var isChanged = false
        for place in strokes.indices.reversed()
        where strokes[place].heardAt + Self.lifetime < now && !strokes[place].isComplete {
            if remove(place) { isChanged = true }
        }
        return isChanged
    }

    mutating func removeAll() {
        strokes = []
        finished = []
        points = 0
    }

    /// Shows the points of a page that the player has passed; strokes on other pages wait until theirs is drawn.
    ///
    /// - Parameters:
    ///   - time: the player's; nil where no player is followed, and all points are shown.
    ///   - isHeldBack: whether something before the stroke still waits.
    ///   - growths: receives the strokes with more points.
    /// - Returns: whether the pictures of strokes are other than before, and how long, in media time, until there is more to
    ///   show; nil for not by itself.
    mutating func grow(
        before time: MediaTime?, on page: Int, isHeldBack: (Stroke) -> Bool, into growths: inout [Growth]
    ) -> (isChanged: Bool, wait: Duration?) {
        var (isChanged, wait) = (false, Duration?.none)
        for place in strokes.indices where strokes[place].page == page {
            let shown = strokes[place].shown
            var count = shown
            if isHeldBack(strokes[place]) {
                // No point more; those that are shown may still get late values.
                wait = min(wait ?? .milliseconds(100), .milliseconds(100))
            } else {
                count = max(time.map { strokes[place].count(before: $0) } ?? strokes[place].growing.count, shown)
                if count < strokes[place].growing.count, let time, let due = strokes[place].due(count) {
                    wait = min(wait ?? .seconds(3600), .microseconds(due - time))
                }
            }
            let version = strokes[place].growing.model.version
            if let drawn = strokes[place].drawnAs, drawn.version == version, drawn.count == count { continue }
            guard count > 0 else { continue }
            if count > shown {
                growths.append(
                    Growth(
                        author: strokes[place].author, number: strokes[place].number, points: count,
                        due: strokes[place].due(shown)))
            }
            strokes[place].shown = count
            strokes[place].drawnAs = Drawn(id: nextID, version: version, count: count)
            nextID += 1
            isChanged = true
        }
        return (isChanged, wait)
    }

    private mutating func begin(_ author: AuthorID, _ number: Int64, _ session: String?, at now: Duration) -> Int {
        strokes.append(Stroke(author: author, number: number, session: session, heardAt: now))
        return strokes.count - 1
    }

    private func place(_ author: AuthorID, _ number: Int64, _ session: String?) -> Int? {
        strokes.firstIndex { $0.number == number && $0.author == author && $0.session == session }
    }

    private func place(_ author: AuthorID, _ number: Int64) -> Int? {
        strokes.firstIndex { $0.number == number && $0.author == author }
    }

    /// - Returns: whether it was shown.
    private mutating func remove(_ place: Int) -> Bool {
        let stroke = strokes.remove(at: place)
        points -= stroke.growing.count
        return stroke.drawnAs != nil
    }
}
