package import Ink
package import StrokeWire

/// The points of a stroke that grows, and when each may be seen.
package struct GrowingPoints: Sendable {
    package private(set) var model: StrokeModel
    /// The greatest reach of each block of points, negative, for the tree finds the least. A pen changes points far behind the
    /// end of a stroke, and a change there may make all points behind it later: none of these is touched.
    private var reaches = TournamentTree<Int64>(greatest: 0)

    private static let blockSize = 32

    /// No points yet: those of updates.
    package init() {
        // Cursors are told of each change when it comes.
        model = StrokeModel(rememberedChanges: 0)
    }

    /// The points of an operation.
    package init(_ points: [StrokePoint]) {
        model = StrokeModel(complete: points)
        updateReaches(of: 0..<points.count)
    }

    package var count: Int { model.confirmedCount }

    /// Microseconds from the stroke's time to a confirmed point, or to a point before it that is later. A point is never seen
    /// before those before it.
    package func reach(through place: Int) -> Int64 {
        let block = place / Self.blockSize
        return model.points[block * Self.blockSize...place].reduce(-reaches.least(before: block)) {
            max($0, Self.reach(of: $1))
        }
    }

    /// Microseconds from the stroke's time to the latest of its confirmed points.
    package var reach: Int64 { -reaches.least }

    /// The number of points that a player has passed.
    /// - Parameters:
    ///   - time: the player's.
    ///   - start: the stroke's time.
    package func count(before time: MediaTime, from start: MediaTime) -> Int {
        firstPlace { start + $0 >= time }
    }

    /// The number of points that are seen less than so many microseconds after the stroke's time.
    package func count(before reach: Int64) -> Int { firstPlace { $0 >= reach } }

    /// The first point that is late enough; ``count`` where there is none.
    /// - Parameter isLate: true for every reach above one for which it is true.
    private func firstPlace(where isLate: (Int64) -> Bool) -> Int {
        guard let block = reaches.first(where: { isLate(-$0) }) else { return count }
        let places = block * Self.blockSize..<min(count, (block + 1) * Self.blockSize)
        return places.first { isLate(Self.reach(of: model.points[$0])) } ?? places.upperBound
    }

    /// Bytes that its confirmed points keep in memory, about.
    var byteCount: Int { Self.byteCount(of: count) }

    /// Bytes of so many points, about.
    static func byteCount(of count: Int) -> Int {
        count * MemoryLayout<StrokePoint>.stride
    }

    /// Takes an update.
    /// - Parameter update: its number; nil where updates have none.
    /// - Returns: the first place with another confirmed point than before; nil where there is none.
    @discardableResult
    package mutating func take(_ points: WetPoints, update: Int64? = nil) -> Int? {
        guard case .taken(let first?) = model.receive(points, update: update) else { return nil }
        updateReaches(of: first..<points.first + points.points.count)
        return first
    }

    /// Ends it with the points of the operation.
    package mutating func complete(with points: [StrokePoint]) {
        model.complete(with: points)
        reaches = TournamentTree(greatest: 0)
        updateReaches(of: 0..<points.count)
    }

    /// Notes that confirmed points in a range are other ones, or new.
    private mutating func updateReaches(of places: Range<Int>) {
        guard !places.isEmpty else { return }
        let size = Self.blockSize
        for block in places.lowerBound / size...(places.upperBound - 1) / size {
            let places = block * size..<min(count, (block + 1) * size)
            let reach = places.reduce(0) { max($0, Self.reach(of: model.points[$1])) }
            if block == reaches.count { reaches.append(-reach) } else { reaches[block] = -reach }
        }
    }

    /// The greatest reach, 285 years, about: no sum with a media time overflows, and checkpoints can hold it.
    static let greatestReach: Int64 = 1 << 53

    /// Microseconds from the stroke's time to a point, at most ``greatestReach``; negative ones count as 0.
    package static func reach(of point: StrokePoint) -> Int64 {
        guard let milliseconds = point.milliseconds, milliseconds > 0 else { return 0 }
        return min(MediaTime(milliseconds: milliseconds)?.microseconds ?? .max, greatestReach)
    }

    /// Microseconds from the stroke's time to the latest point of a message, 0 or more.
    package static func reach(of points: PointArray, in message: [UInt8]) -> Int64 {
        var greatest: Int64 = 0
        points.forEachPoint(of: message) { greatest = max(greatest, Self.reach(of: $0)) }
        return greatest
    }

    /// The first place in which two strokes differ, or the end of the shorter one.
    func firstDifference(from other: GrowingPoints) -> Int {
        (0..<min(count, other.count)).first { model.points[$0] != other.model.points[$0] } ?? min(count, other.count)
    }

    /// Greatest size of the points in one message, in bytes.
    static let messageBytes = 32 << 10

    /// Encodes points as they stand between the brackets of `d`, as many as fit into a message.
    /// - Returns: the bytes, and the place after the last point in them.
    func encoded(_ range: Range<Int>) -> (bytes: [UInt8], end: Int) {
        var bytes: [UInt8] = []
        var end = range.lowerBound
        while end < range.upperBound {
            let next = min(end + 32, range.upperBound)
            let part = PointEncoder.interior(of: Array(model.points[end..<next]))
            guard bytes.isEmpty || bytes.count + part.count < Self.messageBytes else { break }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes += part
            end = next
        }
        return (bytes, end)
    }
}

/// A stroke that is being drawn, as far as the updates of its author tell.
struct WetStroke: Sendable {
    let number: Int64
    let session: String?
    let style: WetStrokeStyle
    /// The page that it is drawn on.
    let page: Int
    /// The room's epoch when the first update came.
    var epoch: Int64
    private(set) var growing = GrowingPoints()
    private(set) var updatedAt: Instant

    init(number: Int64, session: String?, style: WetStrokeStyle, shownPage: Int, epoch: Int64, at now: Instant) {
        (self.number, self.session, self.style) = (number, session, style)
        page = style.page ?? shownPage
        self.epoch = epoch
        updatedAt = now
    }

    /// Its style with the page that it is drawn on, whether its author has named it or not.
    var shownStyle: WetStrokeStyle {
        var style = style
        style.page = page
        return style
    }

    /// A stroke without an update is forgotten after this.
    static let lifetime = Duration.seconds(10)

    /// Bytes of a stroke without its points, about.
    static let overhead = 512

    /// Number of the last update.
    var update: Int64 { growing.model.update }

    /// Bytes that it keeps in memory, about.
    var byteCount: Int {
        Self.overhead + growing.byteCount + growing.model.predicted.count * MemoryLayout<StrokePoint>.stride
    }

    /// Bytes that it would keep with an update, about.
    func byteCount(with update: WetPoints) -> Int {
        Self.overhead + GrowingPoints.byteCount(of: max(growing.count, update.first + update.points.count))
            + update.predicted.count * MemoryLayout<StrokePoint>.stride
    }

    /// Takes an update that is newer than the last one and joins on.
    /// - Returns: the first place with another point than before; nil where no point has changed.
    mutating func take(_ update: Int64, _ points: WetPoints, at now: Instant) -> Int? {
        updatedAt = now
        return growing.take(points, update: update)
    }
}

/// What became of an update of a stroke being drawn.
public enum WetOutcome: String, Sendable, CaseIterable {
    case taken
    /// The stroke was given up by its author.
    case givenUp = "given-up"
    /// Its number is not greater than that of the stroke's last update.
    case repeated
    /// It begins beyond the points known: one before it is missing.
    case gap
    /// The operation's number is settled.
    case settled
    /// It could not be decoded, or differs in style from the stroke's first.
    case rejected
    /// The author sends more than is taken.
    case limited
    /// The author is muted.
    case muted
    /// The author, the room or the service keeps as much as it may.
    case full
    /// Its room is not in memory, and there is no place for it.
    case noRoom = "no-room"
}
