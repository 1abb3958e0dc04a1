internal import Ink
public import StrokeWire
import Whiteboard

/// A pointer as it is seen at a moment: a tip, and the trail behind it. In board units.
public struct PointerSight: Sendable, Equatable {
    /// A place, and how opaque it is: 0 … 1.
    public struct Place: Sendable, Equatable {
        public let x, y: Double
        public let opacity: Double

        public init(x: Double, y: Double, opacity: Double) { (self.x, self.y, self.opacity) = (x, y, opacity) }
    }

    public let author: AuthorID
    /// As in messages: an index into the palette, or `0xRRGGBB`.
    public let colour: UInt32
    /// The width of the line.
    public let width: Double
    /// Where the pointer was in the last 600 ms, the oldest place first. At most 256.
    public let trail: [Place]
    /// Where it points; nil where the same pointer goes on in another operation.
    public let tip: Place?
}

/// The points of a pointer, and what of it is seen at a time.
struct PointerTrack: Sendable {
    /// How long a trail is, and how long the tip fades after the last point, in microseconds.
    static let (trailTime, fadeTime): (Int64, Int64) = (600_000, 400_000)
    /// How long before a point the tip moves to it, in microseconds: a pen that rests makes no points.
    private static let glideTime: Int64 = 100_000
    static let mostPlaces = 256
    /// No sum with a reach overflows.
    private static let mostElapsed: Int64 = 1 << 60

    let author: AuthorID
    let page: Int
    private(set) var style: WetStrokeStyle
    private(set) var growing = GrowingPoints()
    /// Whether these are all points.
    private(set) var isComplete = false

    /// A pointer of which points come one after another.
    init(_ author: AuthorID, on page: Int, _ style: WetStrokeStyle) {
        (self.author, self.page, self.style) = (author, page, style)
    }

    /// The pointer of an operation; nil where its message cannot be read.
    init?(_ operation: ReleasedOperation) {
        var points: [StrokePoint] = []
        guard let header = try? StrokeMessage(decoding: operation.bytes, limits: .accepted, points: &points) else {
            return nil
        }
        self.init(operation.author, on: operation.page, WetStrokeStyle(header, page: operation.page))
        growing = GrowingPoints(points)
        isComplete = true
    }

    mutating func take(_ points: WetPoints) {
        style = points.style
        growing.take(points)
    }

    /// How much a place of the trail has faded, 0 … 1, so many microseconds after the pointer was there.
    static func aged(_ age: Int64) -> Double { min(max(Double(age) / Double(trailTime), 0), 1) }
    /// How much all of a pointer has faded, 0 … 1, so many microseconds after its end.
    static func faded(after end: Int64) -> Double { min(max(Double(end) / Double(fadeTime), 0), 1) }

    var start: MediaTime? { style.time.map { MediaTime(milliseconds: $0) } }
    /// Microseconds from its time to its last point.
    var reach: Int64 { growing.reach }

    /// Whether nothing of it is seen any more, so many microseconds after its time.
    func isOver(after elapsed: Int64) -> Bool { isComplete && elapsed >= reach + Self.fadeTime }

    func isSeen(after elapsed: Int64) -> Bool {
        guard growing.count > 0 else { return false }
        return growing.reach(through: 0) < elapsed && !isOver(after: elapsed)
    }

    /// What is seen of it.
    /// - Parameter hasTip: whether the tip is.
    /// - Returns: the sight, nil where nothing is seen, and microseconds until it is another one; nil for not by itself.
    func sight(after elapsed: Int64, on size: BoardSize, hasTip: Bool) -> (sight: PointerSight?, wait: Int64?) {
        let elapsed = min(max(elapsed, -Self.mostElapsed), Self.mostElapsed)
        let points = growing.model.points
        guard isSeen(after: elapsed) else {
            guard growing.count > 0, !isOver(after: elapsed) else { return (nil, nil) }
            return (nil, max(growing.reach(through: 0) - elapsed, 0) + 1)
        }
        let count = growing.count(before: elapsed)
        let fade = isComplete ? 1 - Self.faded(after: elapsed - reach) : 1
        let scale = (
            x: size.width / (style.boardWidth ?? size.width), y: size.height / (style.boardHeight ?? size.height)
        )
        func place(_ x: Double, _ y: Double, _ age: Int64) -> PointerSight.Place {
            PointerSight.Place(
                x: x * scale.x, y: y * scale.y, opacity: fade * (1 - Self.aged(age)))
        }
        let oldest = max(growing.count(before: elapsed - Self.trailTime + 1), count - Self.mostPlaces)
        var trail: [PointerSight.Place] = []
        for at in oldest..<count {
            trail.append(place(points[at].x, points[at].y, elapsed - growing.reach(through: at)))
        }
        var (x, y) = (points[count - 1].x, points[count - 1].y)
        var wait: Int64?
        if count < growing.count {
            let (last, next) = (growing.reach(through: count - 1), growing.reach(through: count))
            let begin = max(last, next - Self.glideTime)
            wait = begin - elapsed
            if elapsed > begin {
                let part = Double(elapsed - begin) / Double(next - begin)
                x += (points[count].x - x) * part
                y += (points[count].y - y) * part
            }
        } else if isComplete {
            wait = reach - elapsed
        }
        if !trail.isEmpty { wait = 0 }
        let sight = PointerSight(
            author: author, colour: style.colour, width: style.width * min(scale.x, scale.y), trail: trail,
            tip: hasTip ? place(x, y, 0) : nil)
        return (sight, wait.map { max($0, 0) })
    }

    /// What is seen of several pointers. Of those of one author that follow each other the last has the tip.
    /// - Parameter tracks: in the order of their operations, and the microseconds since the time of each.
    static func sights(
        _ tracks: [(track: PointerTrack, elapsed: Int64)], on size: BoardSize
    ) -> (sights: [PointerSight], wait: Int64?) {
        var (sights, wait): ([PointerSight], Int64?) = ([], nil)
        var authors: Set<AuthorID> = []
        for (track, elapsed) in tracks.reversed() {
            let hasTip = !track.isSeen(after: elapsed) || authors.insert(track.author).inserted
            let (sight, next) = track.sight(after: elapsed, on: size, hasTip: hasTip)
            if let sight { sights.append(sight) }
            if let next { wait = min(wait ?? next, next) }
        }
        return (sights.reversed(), wait)
    }
}

/// The pointers on a board that follows a room, each seen at the player's time, or, without a player, as it comes.
///
/// They are no part of the board: who joins later gets none, and a player that is beyond sees none. Bounded to ``most`` and
/// ``mostPoints``; what is beyond is not shown.
struct Pointers: Sendable {
    private struct Pointer: Sendable {
        var track: PointerTrack
        let number: Int64
        let session: String?
        /// Whether the board has passed its operation.
        var isReleased = false
        /// When its time was, where no player tells.
        var begin: Duration
        var heardAt: Duration
        /// Whether it was seen to its end: it is remembered, because a message may come late.
        var isOver = false

        /// Microseconds since its time; nil where it is not due before the player's time is known.
        func elapsed(_ player: MediaTime?, followsPlayer: Bool, at now: Duration) -> Int64? {
            if followsPlayer {
                if let player, let start = track.start { return player - start }
                guard isReleased else { return nil }
            }
            return (now - begin).wholeMicroseconds
        }
    }

    /// The pointer of the person at this board, which is seen at once.
    private struct Own: Sendable {
        let author: AuthorID
        var colour: UInt32
        var width: Double
        var page: Int
        var places: [(x: Double, y: Double, at: Duration)] = []
        /// When it was lifted; nil while it points.
        var liftedAt: Duration?
    }

    private static let most = 64
    private static let mostPoints = 100_000
    /// One without a message is forgotten after this, and one that is over is remembered as long.
    private static let lifetime = Duration.seconds(10)

    /// What is seen, as ``look(_:followsPlayer:on:size:at:isHeldBack:)`` has found it.
    private(set) var sights: [PointerSight] = []
    /// The author whose pointers are seen under the hand: operations without wet ink are passed over.
    var ownAuthor: AuthorID?
    private var pointers: [Pointer] = []
    private var own: Own?

    /// Whether nothing is seen, or will be.
    var isEmpty: Bool { !pointers.contains { !$0.isOver } && own?.places.isEmpty ?? true }

    private var points: Int { pointers.reduce(0) { $0 + $1.track.growing.count } }

    private func place(_ author: AuthorID, _ number: Int64) -> Int? {
        pointers.lastIndex { $0.number == number && $0.track.author == author && !$0.isOver }
    }

    /// Points of a pointer have come, or it is given up.
    mutating func receive(_ release: WetRelease, at now: Duration) {
        let known = pointers.lastIndex {
            $0.number == release.number && $0.track.author == release.author && $0.session == release.session
        }
        guard case .points(var wet) = release.content else {
            if let known, !pointers[known].track.isComplete { pointers.remove(at: known) }
            return
        }
        wet.predicted = []
        let count = known.map { pointers[$0].track.growing.count } ?? 0
        let growth = max(wet.first + wet.points.count - count, 0)
        guard wet.first <= count, points + growth <= Self.mostPoints, known != nil || hasRoom() else { return }
        if let known, pointers[known].track.isComplete || pointers[known].isOver { return }
        let place = known ?? pointers.count
        if known == nil {
            let track = PointerTrack(release.author, on: wet.style.page ?? 0, wet.style)
            pointers.append(
                Pointer(track: track, number: release.number, session: release.session, begin: now, heardAt: now))
        }
        pointers[place].heardAt = now
        pointers[place].track.take(wet)
        // Its last point is seen at once.
        let reached = now - .microseconds(pointers[place].track.reach)
        if growth > 0 { pointers[place].begin = min(pointers[place].begin, reached) }
    }

    /// When the operation of a pointer comes, where no player tells.
    enum Arrival {
        case atBeginning, atEnd
        /// It was seen before the board was joined.
        case old
    }

    /// The operation of a pointer is there: it waits for the player, or the board has passed it.
    mutating func complete(
        _ operation: ReleasedOperation, number: Int64, isReleased: Bool, arrival: Arrival, at now: Duration
    ) {
        let known = place(operation.author, number)
        if let known, pointers[known].track.isComplete {
            pointers[known].isReleased = pointers[known].isReleased || isReleased
            return
        }
        // The person has seen it under the hand.
        guard known != nil || operation.author != ownAuthor && hasRoom() else { return }
        guard let track = PointerTrack(operation) else { return }
        guard points - (known.map { pointers[$0].track.growing.count } ?? 0) + track.growing.count <= Self.mostPoints
        else {
            if let known { pointers.remove(at: known) }
            return
        }
        let begin =
            switch arrival {
            case .atBeginning: now
            case .atEnd: now - .microseconds(track.reach)
            case .old: now - .microseconds(track.reach + PointerTrack.fadeTime)
            }
        var pointer =
            known.map { pointers.remove(at: $0) }
            ?? Pointer(
                track: track, number: number, session: nil, begin: begin, heardAt: now)
        (pointer.track, pointer.isReleased, pointer.heardAt) = (track, isReleased, now)
        // In the order of the log.
        pointers.append(pointer)
    }

    private mutating func hasRoom() -> Bool {
        if pointers.count < Self.most { return true }
        guard let over = pointers.firstIndex(where: { $0.isOver }) else { return false }
        pointers.remove(at: over)
        return true
    }

    /// The person at this board points to a place; nil when the pointer is lifted.
    mutating func point(
        to place: (x: Double, y: Double)?, _ author: AuthorID, colour: UInt32, width: Double, on page: Int,
        at now: Duration
    ) {
        ownAuthor = author
        if own?.author != author || own?.page != page || own?.liftedAt != nil && place != nil {
            own = Own(author: author, colour: colour, width: width, page: page)
        }
        guard let place else {
            if own?.liftedAt == nil { own?.liftedAt = now }
            return
        }
        own?.colour = colour
        own?.width = width
        own?.places.append((place.x, place.y, now))
        if let places = own?.places, places.count > 512 { own?.places.removeFirst(256) }
    }

    /// Forgets all but the pointer of the person at this board.
    mutating func removeAll() { (pointers, sights) = ([], []) }

    /// Looks at what is seen.
    ///
    /// - Parameters:
    ///   - player: its time; nil while unknown.
    ///   - isHeldBack: whether something of an author before what is not complete still waits.
    /// - Returns: whether ``sights`` are others than before, and how long until they are; nil for not by themselves.
    mutating func look(
        _ player: MediaTime?, followsPlayer: Bool, on page: Int, size: BoardSize, at now: Duration,
        isHeldBack: (AuthorID) -> Bool
    ) -> (isChanged: Bool, wait: Duration?) {
        if pointers.isEmpty, own == nil, sights.isEmpty { return (false, nil) }
        var tracks: [(track: PointerTrack, elapsed: Int64)] = []
        for place in pointers.indices where !pointers[place].isOver {
            guard let elapsed = pointers[place].elapsed(player, followsPlayer: followsPlayer, at: now) else { continue }
            if pointers[place].track.isOver(after: elapsed), pointers[place].isReleased {
                pointers[place].isOver = true
                pointers[place].heardAt = now
                pointers[place].track = PointerTrack(
                    pointers[place].track.author, on: page, pointers[place].track.style)
            } else if pointers[place].track.page == page,
                pointers[place].track.isComplete || !isHeldBack(pointers[place].track.author)
            {
                tracks.append((pointers[place].track, elapsed))
            }
        }
        pointers.removeAll { ($0.isOver || !$0.track.isComplete) && $0.heardAt + Self.lifetime < now }
        var (found, microseconds) = PointerTrack.sights(tracks, on: size)
        var wait = microseconds.map { Duration.microseconds($0) }
        if let own = ownSight(on: page, at: now) {
            found.append(own.sight)
            wait = own.isResting ? wait : .zero
        }
        defer { sights = found }
        return (found != sights, wait)
    }

    private mutating func ownSight(on page: Int, at now: Duration) -> (sight: PointerSight, isResting: Bool)? {
        guard let pointer = own, let last = pointer.places.last else { return nil }
        let faded = pointer.liftedAt.map { PointerTrack.faded(after: (now - $0).wholeMicroseconds) } ?? 0
        guard faded < 1 else {
            own?.places = []
            return nil
        }
        guard pointer.page == page else { return nil }
        let fade = 1 - faded
        var trail: [PointerSight.Place] = []
        for place in pointer.places.suffix(PointerTrack.mostPlaces) {
            let aged = PointerTrack.aged((now - place.at).wholeMicroseconds)
            if aged < 1 { trail.append(PointerSight.Place(x: place.x, y: place.y, opacity: fade * (1 - aged))) }
        }
        let sight = PointerSight(
            author: pointer.author, colour: pointer.colour, width: pointer.width, trail: trail,
            tip: PointerSight.Place(x: last.x, y: last.y, opacity: fade))
        return (sight, trail.isEmpty && pointer.liftedAt == nil)
    }
}

extension WetRelease {
    var isPointer: Bool {
        if case .points(let points) = content { points.style.element == .pointer } else { false }
    }
}
