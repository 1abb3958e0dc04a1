public import StrokeWire
import Whiteboard

/// A recorded lesson, and a cursor in it that the time of a player moves, forwards and backwards.
///
/// A value without clocks; use it from one thread at a time. Keeps all operations, and the board after every
/// 256 of them: any place is at most so many operations away.
public struct LessonReplay: Sendable {
    /// Operations between two boards that are kept.
    static let spacing = 256

    /// An operation and when it is seen.
    public struct Entry: Sendable {
        public let operation: ReleasedOperation
        /// Encoder session whose time line the times are on.
        public let epoch: Int64
        /// Seen when the video has passed it; nil for at once.
        public let gateTime: MediaTime?
        /// The time of its last point, where strokes grow.
        public let endTime: MediaTime?
    }

    /// Incarnation of the room.
    public let room: String
    /// In the order of the log.
    public let epochs: [ReplayReply.Epoch]
    /// All operations, the first of the lesson first.
    public let entries: [Entry]
    /// The board at the cursor.
    public private(set) var board = StudentBoard()
    /// The greatest epoch and gate time up to each entry.
    private let order: [(epoch: Int64, time: MediaTime)]
    private var boards: [StudentBoard] = []

    /// Joins the parts of a lesson; the first one begins with the blank board.
    /// - Throws: where an operation cannot be decoded, or the parts are not of one lesson from its beginning.
    public init(_ parts: [ReplayReply]) throws(MalformedRelease) {
        guard let last = parts.last, let first = parts.first?.board, first.index == 0,
            !parts.contains(where: { $0.room != last.room })
        else { throw MalformedRelease(description: "the parts are not of one lesson from its beginning") }
        room = last.room
        epochs = last.epochs
        var entries: [Entry] = []
        for entry in parts.lazy.flatMap({ $0.operations }) {
            entries.append(
                Entry(
                    operation: try ReleasedOperation(entry.operation), epoch: entry.epoch, gateTime: entry.gateTime,
                    endTime: entry.endTime))
        }
        var order: [(epoch: Int64, time: MediaTime)] = []
        for entry in entries {
            let last = order.last ?? (entry.epoch, .distantPast)
            let own = (epoch: entry.epoch, time: entry.gateTime ?? .distantPast)
            order.append(own < last ? last : own)
        }
        self.entries = entries
        self.order = order
        var board: StudentBoard
        do throws(StudentBoard.Divergence) {
            board = try StudentBoard(first)
        } catch {
            throw MalformedRelease(description: error.description)
        }
        board.room = room
        self.board = board
        for (place, entry) in entries.enumerated() {
            if place.isMultiple(of: Self.spacing) { boards.append(board) }
            do throws(StudentBoard.Divergence) {
                try board.apply(entry.operation)
            } catch {
                throw MalformedRelease(description: error.description)
            }
        }
    }

    /// The number of operations that a player at a time has passed: those of the epoch whose gate time lies below it, and
    /// those of earlier epochs.
    /// - Parameters:
    ///   - time: the player's.
    ///   - epoch: nil for the last one.
    public func index(before time: MediaTime, epoch: Int64? = nil) -> Int {
        guard let epoch = epoch ?? epochs.last?.number else { return 0 }
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if order[middle] < (epoch, time) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moves the cursor, so that the board is that after so many operations.
    /// - Returns: the operations that the board has gone forwards by; nil where it has gone back, or far: it is another.
    /// - Precondition: `0 <= count && count <= entries.count`
    @discardableResult
    public mutating func move(to count: Int) -> ArraySlice<Entry>? {
        let start = Int(board.index)
        if start <= count, count - start < Self.spacing {
            apply(start..<count)
            return entries[start..<count]
        }
        let place = min(count / Self.spacing, boards.count - 1)
        if place >= 0 { board = boards[place] }
        apply(Int(board.index)..<count)
        return nil
    }

    /// They have been applied once, in the initializer.
    private mutating func apply(_ range: Range<Int>) {
        for entry in entries[range] { _ = try? board.apply(entry.operation) }
    }
}

/// A recorded lesson while its parts are asked for, one after another.
///
/// ```swift
/// var fetch = LessonFetch()
/// while let request = fetch.request { try fetch.receive(try await part(request)) }
/// let lesson = try fetch.lesson()
/// ```
public struct LessonFetch: Sendable {
    /// Bytes of messages of one lesson at most.
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
    /// - Throws: where the lesson would not end, or be larger than 256 MiB. Nothing changes then.
    public mutating func receive(_ part: ReplayReply) throws(MalformedRelease) {
        if let next = part.next, next <= request?.after ?? 0 || part.operations.isEmpty {
            throw MalformedRelease(description: "a part of the lesson brings it no farther")
        }
        let size = part.operations.reduce(0) { $0 + $1.operation.message.count }
        guard bytes + size <= Self.mostBytes else {
            throw MalformedRelease(description: "the lesson has more than \(Self.mostBytes >> 20) MiB")
        }
        bytes += size
        parts.append(part)
        fetched += part.operations.count
        all = part.epochs.reduce(all) { max($0, $1.indices.upperBound) }
        request = part.next.map { ReplayRequest(after: $0, incarnation: part.room) }
    }

    /// The whole lesson.
    /// - Throws: as ``LessonReplay/init(_:)``.
    public func lesson() throws(MalformedRelease) -> LessonReplay { try LessonReplay(parts) }
}
