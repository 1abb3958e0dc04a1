internal import Ink
public import StrokeWire
import Whiteboard

/// A recorded lesson, and a cursor in it that the time of a player moves, forwards and backwards.
///
/// A value without clocks; use it from one thread at a time. Keeps all operations, and a board after every few hundred of
/// them to go on from. ``LessonPlayout`` is for a player that has no time to fetch all of it.
public struct LessonReplay: Sendable {
    /// The cursor goes forwards one by one where it is at most so far.
    static let mostSteps = 256

    /// An operation and when it is seen.
    public struct Entry: Sendable {
        public let operation: ReleasedOperation
        /// Encoder session whose time line the times are on.
        public let epoch: Int64
        /// Seen when the video has passed it; nil for at once.
        public let gateTime: MediaTime?
        /// The time of its last point, where strokes grow.
        public let endTime: MediaTime?
        /// When it is due: the greatest epoch and time of all up to this one.
        let order: (epoch: Int64, time: MediaTime)
        /// The author's number of it.
        let number: Int64
        /// The media time of its first point.
        let start: MediaTime?
        /// Whether it is a stroke whose points have times of their own.
        let isGrowing: Bool
        /// Whether what follows it does not grow before it is there.
        let isBarrier: Bool
        /// Of a pointer: when it begins, and the microseconds to its last point.
        let pointer: (start: MediaTime, reach: Int64)?
        let pointCount: Int

        var weight: Int { max(pointCount, operation.bytes.count / RecordedLesson.bytesOfWeight, 1) }
    }

    private let lesson: RecordedLesson
    /// All operations, the first of the lesson first.
    public let entries: [Entry]
    /// The board at the cursor.
    public private(set) var board = StudentBoard()

    /// Incarnation of the room.
    public var room: String { lesson.room }
    /// In the order of the log.
    public var epochs: [ReplayReply.Epoch] { lesson.epochs }

    /// Joins the parts of a lesson; the first one begins with the blank board.
    /// - Throws: where an operation cannot be decoded, or the parts are not of one lesson from its beginning.
    public init(_ parts: [ReplayReply]) throws(MalformedRelease) {
        guard parts.first?.board?.index == 0, !parts.contains(where: { $0.room != parts[0].room }) else {
            throw MalformedRelease(description: "the parts are not of one lesson from its beginning")
        }
        var lesson = RecordedLesson(grows: false)
        for part in parts {
            try lesson.begin(room: part.room, epochs: part.epochs, board: try part.board.map(StudentBoard.init(part:)))
            for entry in part.operations { try lesson.add(entry) }
        }
        var entries: [Entry] = []
        lesson.forEach(after: 0) {
            entries.append($0)
            return true
        }
        (self.lesson, self.entries) = (lesson, entries)
        board = lesson.board(at: 0) ?? board
    }

    /// The number of operations that a player at a time has passed: those of the epoch whose gate time lies below it, and
    /// those of earlier epochs.
    /// - Parameters:
    ///   - time: the player's.
    ///   - epoch: nil for the last one.
    public func index(before time: MediaTime, epoch: Int64? = nil) -> Int {
        guard let epoch = epoch ?? epochs.last?.number else { return 0 }
        return entries.passedCount(by: time, epoch)
    }

    /// Moves the cursor, so that the board is that after so many operations.
    /// - Returns: the operations that the board has gone forwards by; nil where it has gone back, or far: it is another.
    /// - Precondition: `0 <= count && count <= entries.count`
    @discardableResult
    public mutating func move(to count: Int) -> ArraySlice<Entry>? {
        let start = Int(board.index)
        if start <= count, count - start < Self.mostSteps {
            // They have been applied once, in the initializer.
            for entry in entries[start..<count] { _ = try? board.apply(entry.operation) }
            return entries[start..<count]
        }
        board = lesson.board(at: UInt64(count)) ?? board
        return nil
    }
}

extension LessonReplay.Entry {
    /// - Parameters:
    ///   - grows: whether a stroke is due with its last point.
    ///   - before: the operation before it, where that is known.
    init(_ raw: ReplayReply.Entry, grows: Bool, after before: Self?) throws(MalformedRelease) {
        var header = StrokeMessage(number: 0)
        operation = try ReleasedOperation(raw.operation, header: &header)
        (epoch, gateTime, endTime) = (raw.epoch, raw.gateTime, raw.endTime)
        // What straggles from an earlier session is due with what came before it.
        let own = (epoch: raw.epoch, time: (grows ? raw.endTime : raw.gateTime) ?? .distantPast)
        order = before.map { own < $0.order ? $0.order : own } ?? own
        number = header.number
        start = header.time.map { MediaTime(milliseconds: $0) }
        isBarrier = header.action != .draw || header.element == .lasso
        let isPointer = header.action == .draw && header.element == .pointer
        let reach =
            grows && !isBarrier || isPointer ? GrowingPoints.reach(of: header.points, in: operation.bytes) : 0
        isGrowing = reach > 0 && !isPointer
        pointer = isPointer ? start.map { ($0, reach) } : nil
        pointCount = header.points.count
    }

    /// Whether a player at a time of an epoch has passed it; without an epoch, at a time.
    func isPassed(by time: MediaTime, _ epoch: Int64?) -> Bool {
        if let epoch, order.epoch != epoch { return order.epoch < epoch }
        return order.time < time
    }
}

extension StudentBoard {
    init(part reply: JoinReply) throws(MalformedRelease) {
        do throws(Divergence) {
            try self.init(reply)
        } catch {
            throw MalformedRelease(description: error.description)
        }
    }
}

/// A recorded lesson while its parts are asked for, one after another.
///
/// ```swift
/// var fetch = LessonFetch()
/// while let request = fetch.request {
///     let bytes = try await reply(to: request)
///     try fetch.receive(try ReplayReply(decoding: bytes), bytes: bytes.count)
/// }
/// let lesson = try fetch.lesson()
/// ```
public struct LessonFetch: Sendable {
    /// Bytes of the replies of one lesson at most: their operations keep all of them in memory.
    static let mostBytes = 256 << 20

    /// What to ask for next; nil when all is there.
    public private(set) var request: ReplayRequest? = ReplayRequest()
    /// Operations so far.
    public private(set) var fetched = 0
    /// How many there are, as far as the parts tell.
    public private(set) var all: UInt64 = 0
    private var parts: [ReplayReply] = []
    private var bytes = 0

    public init() {}

    /// The next part is there.
    /// - Parameter bytes: of the whole reply.
    /// - Throws: where the lesson would not end, be larger than 256 MiB, or have a board in its middle. Nothing changes then.
    public mutating func receive(_ part: ReplayReply, bytes: Int) throws(MalformedRelease) {
        if let next = part.next, next <= request?.after ?? 0 || part.operations.isEmpty {
            throw MalformedRelease(description: "a part of the lesson makes no progress")
        }
        guard parts.isEmpty || part.board == nil else {
            throw MalformedRelease(description: "a later part of the lesson has a board")
        }
        guard self.bytes + bytes <= Self.mostBytes else {
            throw MalformedRelease(description: "the lesson has more than \(Self.mostBytes >> 20) MiB")
        }
        self.bytes += bytes
        parts.append(part)
        fetched += part.operations.count
        all = part.epochs.reduce(all) { max($0, $1.indices.upperBound) }
        request = part.next.map { ReplayRequest(after: $0, incarnation: part.room) }
    }

    /// The whole lesson.
    /// - Throws: as ``LessonReplay/init(_:)``.
    public func lesson() throws(MalformedRelease) -> LessonReplay { try LessonReplay(parts) }
}
