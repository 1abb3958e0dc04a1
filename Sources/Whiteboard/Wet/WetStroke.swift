import StrokeWire

/// The points of a stroke that grows, and when each may be seen.
struct GrowingPoints: Sendable {
    private(set) var points: [StrokePoint] = []
    /// For each point: microseconds from the stroke's time to it, or to a point before it that is later. A point is
    /// never seen before those before it.
    private(set) var reaches: [Int64] = []

    init() {}

    init(_ points: [StrokePoint]) {
        replace(from: 0, by: points[...])
    }

    var count: Int { points.count }

    /// Bytes that it keeps in memory, about.
    var byteCount: Int { count * (MemoryLayout<StrokePoint>.stride + MemoryLayout<Int64>.stride) }

    /// Bytes of so many points, about.
    static func byteCount(of count: Int) -> Int { GrowingPoints().byteCountOfOne * count }

    private var byteCountOfOne: Int { MemoryLayout<StrokePoint>.stride + MemoryLayout<Int64>.stride }

    /// Puts points to the places from `first` on. Those behind them stay.
    /// - Precondition: `first <= count`
    /// - Returns: the first place with another point than before; nil where nothing has changed.
    @discardableResult
    mutating func replace(from first: Int, by new: ArraySlice<StrokePoint>) -> Int? {
        var changed: Int?
        for (offset, point) in new.enumerated() {
            let place = first + offset
            if place == points.count {
                points.append(point)
                reaches.append(0)
            } else if points[place] == point {
                continue
            } else {
                points[place] = point
            }
            changed = changed ?? place
        }
        guard let changed else { return nil }
        for place in changed..<points.count {
            reaches[place] = max(Self.reach(of: points[place]), place == 0 ? 0 : reaches[place - 1])
        }
        return changed
    }

    /// Microseconds from the stroke's time to a point; negative ones count as 0.
    static func reach(of point: StrokePoint) -> Int64 {
        guard let milliseconds = point.milliseconds, milliseconds > 0 else { return 0 }
        return MediaTime(milliseconds: milliseconds)?.microseconds ?? .max
    }

    /// The first place in which two strokes differ, or the end of the shorter one.
    func firstDifference(from other: GrowingPoints) -> Int {
        zip(points, other.points).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(count, other.count)
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
            let part = PointEncoder.interior(of: Array(points[end..<next]))
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
    /// The room's epoch when the first update came.
    var epoch: Int64
    private(set) var growing = GrowingPoints()
    private(set) var predicted: [StrokePoint] = []
    /// Number of the last update.
    private(set) var update: Int64 = 0
    private(set) var updatedAt: Instant

    init(number: Int64, session: String?, style: WetStrokeStyle, epoch: Int64, at now: Instant) {
        self.number = number
        self.session = session
        self.style = style
        self.epoch = epoch
        updatedAt = now
    }

    /// A stroke without an update is forgotten after this.
    static let lifetime = Duration.seconds(10)

    /// Bytes of a stroke without its points, about.
    static let overhead = 512

    /// Bytes that it keeps in memory, about.
    var byteCount: Int {
        Self.overhead + growing.byteCount + predicted.count * MemoryLayout<StrokePoint>.stride
    }

    /// Bytes that it would keep with an update, about.
    func byteCount(with update: WetPoints) -> Int {
        Self.overhead + GrowingPoints.byteCount(of: max(growing.count, update.first + update.points.count))
            + update.predicted.count * MemoryLayout<StrokePoint>.stride
    }

    /// Takes an update that is newer than the last one and joins on.
    /// - Returns: the first place with another point than before; nil where no point has changed.
    mutating func take(_ update: Int64, _ points: WetPoints, at now: Instant) -> Int? {
        self.update = update
        updatedAt = now
        predicted = points.predicted
        return growing.replace(from: points.first, by: points.points[...])
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
    /// The author, the room or the service keeps as much as it may.
    case full
}
