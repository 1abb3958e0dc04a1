public import StrokeWire

/// A room rebuilt from its log: each operation with its gate time, and the board after each. The clock of a recorded video
/// moves a cursor through it, forwards and backwards.
///
/// A value, made by folding the room's records in the order of the log. It has the indices and digests of the room that
/// was there in the class; its gate times are those of rule 2, computed from the log alone, see ``ReplayTimes``.
///
/// Keeps an operation as the room's log does, about 5 bytes a point, and ``mostBoards`` boards at most. The board at any
/// place is one of these and the operations after it.
public struct RecordedRoom: Sendable {
    /// Boards kept at most, each some bytes for each stroke on it.
    static let mostBoards = 128

    private var room: Room
    private var effects = RoomEffects()
    private var operations = OperationLog()
    private var logged: [ReplayTimes.Entry] = []
    private var epoch: Int64?
    private var epochBegan = Instant.distantPast
    /// Index of the operation with which a provisional epoch began.
    private var provisional: UInt64?
    /// No operation up to this index begins one any more, see ``Gate/lastProvisional``.
    private var lastProvisional: UInt64 = 0
    /// Those after 0, ``spacing``, 2 · ``spacing`` … operations.
    private var boards: [Board]
    /// Bytes of the boards, about: a record's cost must not grow with what is on them.
    private var boardBytes: Int
    private var spacing: UInt64 = 64
    private var times = ReplayTimes([])
    /// Records since the room was last told the time.
    private var sinceAdvance = 0

    /// An empty recording.
    /// - Parameter configuration: that of the room; its cohorts do not matter.
    public init(configuration: RoomConfiguration) {
        let configuration = RoomConfiguration(
            intake: configuration.intake, history: configuration.history,
            cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none), open: false),
            boardSize: configuration.boardSize, log: LogRetention(tail: 0, tailBytes: 0))
        room = Room(configuration: configuration, at: .distantPast)
        boards = [room.head]
        boardBytes = Self.bytes(of: room.head)
    }

    /// The incarnation; empty without operations.
    public var incarnation: String { room.incarnation }

    /// Index of the last operation, 0 without one.
    public var count: UInt64 { operations.lastIndex }

    /// Bytes that it keeps in memory, about, or more. Constant time.
    public var byteEstimate: Int { operations.releasedBytes + logged.count * 96 + boardBytes }

    private static func bytes(of board: Board) -> Int {
        512 + 16 * board.visibleCount + board.pageCount * MemoryLayout<BoardPage>.stride
    }
}

// MARK: - Folding the log

extension RecordedRoom {
    /// Takes a message of an author.
    /// - Parameter incarnation: that of the room where this is its first message.
    public mutating func receive(_ incoming: IncomingMessage, incarnation: () -> String) {
        room.receive(incoming, incarnation: incarnation, at: incoming.loggedAt, into: &effects)
        take(loggedAt: incoming.loggedAt)
    }

    /// Takes a decision of the room's owner. The end of an incarnation ends the recording: it begins anew. Whether a
    /// ``ControlRecord/full(through:)`` is about the room is for the caller to know.
    public mutating func receive(_ record: ControlRecord, loggedAt: Instant) {
        room.receive(record, loggedAt: loggedAt, at: loggedAt, into: &effects)
        switch record {
        case .epoch(let number): begin(number, at: loggedAt)
        case .provisionalEpoch(let first, _):
            guard provisional == nil, first > lastProvisional, first <= count else { break }
            (provisional, lastProvisional) = (first, first)
        case .provisionalEpochOver(let first): if provisional == first { provisional = nil }
        case .gaveUp, .close, .full, .mute, .unmute, .erase, .restore: break
        }
        guard !room.isBlank else {
            self = RecordedRoom(configuration: room.configuration)
            return
        }
        take(loggedAt: loggedAt)
    }

    private mutating func begin(_ number: Int64, at loggedAt: Instant) {
        if let epoch {
            guard number > epoch else { return }
            epochBegan = loggedAt
            lastProvisional = count
            // They were waiting for it.
            if let provisional {
                for place in logged.indices.dropFirst(Int(provisional) - 1) where logged[place].epoch == epoch {
                    logged[place].epoch = number
                    logged[place].epochBegan = loggedAt
                }
            }
            provisional = nil
        } else {
            for place in logged.indices { logged[place].epoch = number }
        }
        epoch = number
    }

    private mutating func take(loggedAt: Instant) {
        for effect in effects.list {
            guard case .head(let operation) = effect else { continue }
            operations.append(operation)
            operations.pack(through: operation.index)
            logged.append(
                ReplayTimes.Entry(
                    epoch: epoch ?? 0, epochBegan: epochBegan, time: operation.time.map(MediaTime.init(milliseconds:)),
                    reach: operation.reach, loggedAt: loggedAt))
        }
        effects.removeAll()
        if operations.lastIndex >= UInt64(boards.count) * spacing { keepBoard() }
        sinceAdvance += 1
        guard sinceAdvance >= 64 else { return }
        sinceAdvance = 0
        room.advance(to: loggedAt, into: &effects)
        effects.removeAll()
    }

    /// An input may bring several operations: the board then is that of the last of them.
    private mutating func keepBoard() {
        boards.append(room.head)
        if boards.count > Self.mostBoards {
            boards = boards.enumerated().filter { $0.offset.isMultiple(of: 2) }.map { $0.element }
            spacing *= 2
        }
        boardBytes = boards.reduce(0) { $0 + Self.bytes(of: $1) }
    }

    /// Computes the gate times anew. To be called when records have been taken, before times are asked for.
    public mutating func computeTimes() {
        guard times.count != logged.count else { return }
        times = ReplayTimes(logged)
    }
}

// MARK: - Reading

extension RecordedRoom {
    /// An operation with its times.
    public struct TimedOperation: Sendable {
        public let operation: Operation
        public let time: ReplayTimes.Time
    }

    /// The encoder sessions of the recording, in order.
    public var epochs: [ReplayTimes.Span] { times.spans }

    /// The place of a cursor: the number of operations whose gate time in the epoch lies below a media time, and of
    /// those of earlier epochs.
    /// - Parameters:
    ///   - epoch: nil for the last one that may be seen.
    ///   - last: the last operation that may be seen; nil for the last of all.
    public func index(before time: MediaTime, epoch: Int64? = nil, through last: UInt64? = nil) -> UInt64 {
        times.index(before: time, epoch: epoch, through: last ?? .max)
    }

    /// The board after so many operations.
    /// - Precondition: `index <= count`
    public func board(at index: UInt64) -> BoardVersion {
        let place = boards.lastIndex { $0.index <= index } ?? 0
        return BoardVersion(
            start: boards[place], operations: operations.tail(after: boards[place].index, through: index) ?? [])
    }

    func time(of index: UInt64) -> ReplayTimes.Time { times[index] }

    func messageByteCount(of index: UInt64) -> Int { operations.messageByteCount(of: index) }

    /// The operations after `index` through `last`.
    /// - Precondition: `last <= count`
    public func operations(after index: UInt64, through last: UInt64) -> [TimedOperation] {
        guard index < last else { return [] }
        return (index + 1...last).map { TimedOperation(operation: operations[$0], time: times[$0]) }
    }
}

extension Operation {
    /// Microseconds from its time to its last point, 0 or more.
    fileprivate var reach: Int64 {
        guard case .draw = effect else { return 0 }
        let bytes = restoredMessage
        guard let message = try? StrokeMessage(decoding: bytes, limits: .accepted) else { return 0 }
        return GrowingPoints.reach(of: message.points, in: bytes)
    }
}
