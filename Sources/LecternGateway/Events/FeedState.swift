internal import LecternClient
internal import StrokeWire

/// State machine of a feed: joins it, keeps its operations dense and in order, and finds a start for each reader.
///
/// It has no clock and no connection: methods take the time since the start and append actions, to be performed in
/// order. One join brings the feed itself to its position; others bring boards and tails for readers who cannot start
/// from what the feed remembers.
struct FeedState<Reader> {
    enum Action {
        /// Send an event to all attached readers.
        case send(StreamEvent)
        /// Send a board of another incarnation, whatever the readers have.
        case reset(StreamEvent)
        /// Attach a reader, who first gets these events; `after` is the last index that it has.
        case attach(Reader, [StreamEvent], after: UInt64)
        /// Tell a reader that there is no start for it.
        case refuse(Reader, GatewayError)
        /// Ask the service, and pass the result to ``joined(_:_:at:into:)`` or ``joinFailed(_:_:at:into:)``.
        case join(JoinRequest, Ticket)
    }

    /// Identifies a join.
    struct Ticket: Equatable, Sendable {
        let number: Int
        /// Whether it brings readers a board or what they have missed; otherwise it is for the feed's own position.
        let isForReaders: Bool
    }

    private enum Phase {
        case offline
        /// - Parameter have: the position that was named.
        case joining(Ticket, have: UInt64?, since: Duration)
        case live
        case backingOff(until: Duration)
    }

    /// Bytes of operations that a reader may get after a board, instead of a newer board.
    private static var suffixBytes: Int { 64 << 10 }

    private var phase = Phase.offline
    /// Where the feed stands; nil before the first join.
    private var position: FeedPosition?
    /// Digest of the board at ``position``.
    private var digest = BoardDigest.empty
    private var needsBoard = false
    private var buffer = ReorderBuffer()
    private let recent: RecentEvents
    private var board: (event: StreamEvent, index: UInt64)?
    /// Whether the cohort has a video, as the last mark or reply to a join says.
    private var gate: GateState?
    /// The position when the next operation was found missing, and since when.
    private var gap: (after: UInt64, since: Duration)?
    private var markedIndex: UInt64 = 0
    private var marks = MarkThrottle()
    private var backoff = JoinBackoff()
    private var tickets = 0

    /// Readers who came while the feed had no position.
    private var early: [(reader: Reader, have: FeedPosition?)] = []
    /// Readers who wait for a join, by its ticket.
    private var waiting: [Int: (request: JoinRequest, readers: [Reader])] = [:]

    init(_ budget: ByteBudget) {
        recent = RecentEvents(budget)
    }

    private var isLive: Bool {
        if case .live = phase { true } else { false }
    }

    /// The connection is established or restored. Subscribe before.
    mutating func connected(at now: Duration, into actions: inout [Action]) {
        joinPosition(at: now, &actions)
    }

    /// The connection is lost, and with it the replies to joins.
    mutating func disconnected(into actions: inout [Action]) {
        phase = .offline
        refuseWaiting(.notReady("There is no connection to NATS."), &actions)
    }

    /// When to call ``wake(at:into:)``, unless another event comes first; nil for never.
    var deadline: Duration? {
        switch phase {
        case .offline, .joining: nil
        case .live: gap.map { $0.since + backoff.timeout }
        case .backingOff(let until): until
        }
    }

    /// The deadline has passed.
    mutating func wake(at now: Duration, into actions: inout [Action]) {
        guard let deadline, now >= deadline else { return }
        if isLive { backoff.lengthen() }
        joinPosition(at: now, &actions)
    }

    var keepsBoard: Bool { board != nil }

    /// Forgets the board, which is fetched again when a reader needs it.
    mutating func dropBoard() {
        board = nil
    }

    private mutating func makeTicket(isForReaders: Bool) -> Ticket {
        tickets += 1
        return Ticket(number: tickets, isForReaders: isForReaders)
    }

    private mutating func joinPosition(at now: Duration, _ actions: inout [Action]) {
        let ticket = makeTicket(isForReaders: false)
        gap = nil
        var request = JoinRequest()
        if let position, !needsBoard, !position.room.isEmpty {
            request = JoinRequest(incarnation: position.room, have: position.index)
        }
        phase = .joining(ticket, have: request.have, since: now)
        actions.append(.join(request, ticket))
    }

    /// Joins again after a problem: at once, or with a delay when the last joins made no progress.
    private mutating func rejoin(needsBoard: Bool, at now: Duration, _ actions: inout [Action]) {
        guard isLive else { return }
        if needsBoard { self.needsBoard = true }
        if backoff.isOn {
            phase = .backingOff(until: now + backoff.timeout)
        } else {
            joinPosition(at: now, &actions)
        }
        backoff.lengthen()
    }
}

/// Readers who come.
extension FeedState {
    /// - Parameter have: the last event that the reader has; nil for none.
    mutating func add(_ reader: Reader, have: FeedPosition?, into actions: inout [Action]) {
        guard isLive, let position else {
            early.append((reader, have))
            return
        }
        guard let have, have.room == position.room else {
            if let start = keptStart {
                actions.append(.attach(reader, start, after: 0))
            } else {
                ask(JoinRequest(), for: reader, &actions)
            }
            return
        }
        if have.index <= position.index, let missed = recent.after(have.index) {
            actions.append(.attach(reader, missed, after: have.index))
        } else {
            ask(JoinRequest(incarnation: have.room, have: have.index), for: reader, &actions)
        }
    }

    /// The board that is kept and the operations after it, unless these are many.
    private var keptStart: [StreamEvent]? {
        guard let board, let suffix = recent.after(board.index) else { return nil }
        guard suffix.reduce(0, { $0 + $1.size }) <= max(Self.suffixBytes, board.event.size / 4) else { return nil }
        return [board.event] + suffix
    }

    /// Asks the service for the start of a reader, unless others wait for the same.
    private mutating func ask(_ request: JoinRequest, for reader: Reader, _ actions: inout [Action]) {
        if let number = waiting.first(where: { $0.value.request == request })?.key {
            waiting[number]?.readers.append(reader)
            return
        }
        let ticket = makeTicket(isForReaders: true)
        waiting[ticket.number] = (request, [reader])
        actions.append(.join(request, ticket))
    }

    private mutating func addEarly(_ actions: inout [Action]) {
        let readers = early
        early = []
        for (reader, have) in readers { add(reader, have: have, into: &actions) }
    }

    private mutating func refuseWaiting(_ error: GatewayError, _ actions: inout [Action]) {
        for reader in early.map(\.reader) + waiting.values.flatMap(\.readers) { actions.append(.refuse(reader, error)) }
        (early, waiting) = ([], [:])
    }
}

/// What the cohort is sent.
extension FeedState {
    /// An operation or shard arrived.
    mutating func receive(_ message: ReleasedMessage, at now: Duration, into actions: inout [Action]) {
        if isLive, position?.room.isEmpty == true {
            // A feed that joined a room without operations takes the first one of any incarnation.
            position = FeedPosition(room: message.room, index: 0)
            board = nil
        }
        if let position, message.room == position.room, message.index <= position.index { return }
        if buffer.add(message, at: now) {
            proceed(at: now, &actions)
        } else {
            rejoin(needsBoard: false, at: now, &actions)
        }
    }

    /// A mark of the cohort arrived.
    mutating func receive(_ mark: Mark, at now: Duration, into actions: inout [Action]) {
        guard isLive, let position else { return }
        // A board that is kept says how it was.
        if mark.gate != gate { (gate, board) = (mark.gate, nil) }
        if mark.room != position.room {
            if !(position.room.isEmpty && mark.index == 0) { rejoin(needsBoard: true, at: now, &actions) }
        } else if mark.index > position.index {
            markedIndex = max(markedIndex, mark.index)
            noticeGap(at: now)
        } else if mark.index == position.index, mark.digest != digest {
            rejoin(needsBoard: true, at: now, &actions)
        }
        if mark.room == position.room || mark.covered != nil, marks.passes(mark, at: now) {
            actions.append(.send(.mark(mark)))
        }
    }

    /// Points of a stroke being drawn arrived. They go to the readers who are there and are not kept.
    /// - Parameter room: incarnation of the room; a room without operations has none yet.
    mutating func receive(wet event: StreamEvent, of room: String, into actions: inout [Action]) {
        guard isLive, let position, position.room.isEmpty || position.room == room else { return }
        actions.append(.send(event))
    }

    /// Sends buffered operations up to the next gap.
    private mutating func proceed(at now: Duration, _ actions: inout [Action]) {
        guard isLive, let position else { return }
        var index = position.index
        while let operation = buffer.take(index + 1, of: position.room) {
            index += 1
            pass(operation, operation.digest ?? digest, &actions)
        }
        if buffer.containsOther(than: position.room) {
            rejoin(needsBoard: true, at: now, &actions)
        } else {
            noticeGap(at: now)
        }
    }

    private mutating func pass(_ operation: ReleasedOperation, _ digest: BoardDigest, _ actions: inout [Action]) {
        guard let room = position?.room else { return }
        let event = StreamEvent.operation(operation, digest, room: room)
        position?.index = operation.index
        self.digest = digest
        backoff.reset()
        recent.append(event)
        actions.append(.send(event))
    }

    /// Starts the timeout of a gap when the next operation is known to exist; each gap has its own.
    private mutating func noticeGap(at now: Duration) {
        guard let position, buffer.contains(room: position.room) || markedIndex > position.index else {
            gap = nil
            return
        }
        if gap?.after != position.index { gap = (position.index, now) }
    }
}

/// Replies to joins.
extension FeedState {
    /// A join reply arrived. The reply to an outdated request is ignored.
    mutating func joined(_ join: FeedJoin, _ ticket: Ticket, at now: Duration, into actions: inout [Action]) {
        if let gate = join.gate { self.gate = gate }
        guard !ticket.isForReaders else {
            if let (request, readers) = waiting.removeValue(forKey: ticket.number) {
                start(readers, have: request.have ?? 0, with: join, at: now, &actions)
            }
            return
        }
        guard case .joining(ticket, let have, let since) = phase else { return }
        phase = .live
        take(join, have: have, since, at: now, &actions)
    }

    mutating func joinFailed(_ error: GatewayError, _ ticket: Ticket, at now: Duration, into actions: inout [Action]) {
        guard !ticket.isForReaders else {
            let readers = waiting.removeValue(forKey: ticket.number)?.readers ?? []
            for reader in readers { actions.append(.refuse(reader, error)) }
            return
        }
        guard case .joining(ticket, _, _) = phase else { return }
        phase = .backingOff(until: now + backoff.timeout)
        backoff.lengthen()
        refuseWaiting(error, &actions)
    }

    /// Brings the feed to the position of a join.
    private mutating func take(
        _ join: FeedJoin, have: UInt64?, _ since: Duration, at now: Duration, _ actions: inout [Action]
    ) {
        // Operations of other incarnations that arrived before the request are outdated.
        buffer.drop(through: 0, of: join.position.room, othersBefore: join.position.room.isEmpty ? .zero : since)
        needsBoard = false
        switch join.content {
        case .operations(let operations):
            guard join.position.room == position?.room else {
                rejoin(needsBoard: true, at: now, &actions)
                return
            }
            for (operation, digest) in operations where operation.index > position?.index ?? 0 {
                guard operation.index == position.map({ $0.index + 1 }) else { break }
                pass(operation, digest, &actions)
            }
            // A service restored from a checkpoint may be behind for a while; what was released is final.
            if join.position.index > position?.index ?? 0 {
                rejoin(needsBoard: true, at: now, &actions)
                return
            }
        case .board(let event):
            // To a feed that is ahead a service gives a tail. It gives a board where its log has lost what follows, and gives these
            // indices again.
            let isBack = join.position.room == position?.room && join.position.index < have ?? 0
            move(to: join, event, isBack: isBack, &actions)
        case .tail:
            break
        }
        if position?.room.isEmpty == true, let room = buffer.newestRoom {
            position?.room = room
            board = nil
        }
        if let position { buffer.drop(through: position.index, of: position.room, othersBefore: .zero) }
        addEarly(&actions)
        proceed(at: now, &actions)
    }

    /// Takes a board as the feed's own, and sends it to readers who need it.
    private mutating func move(
        to join: FeedJoin, _ event: StreamEvent, isBack: Bool = false, _ actions: inout [Action]
    ) {
        // Where the digest is another at the same index, the feed has diverged from the room.
        let hasDiverged = isBack || position == join.position && digest != join.digest
        if let position, position.room == join.position.room, join.position.index <= position.index, !hasDiverged {
            return
        }
        let isReset = hasDiverged || position.map { $0.room != join.position.room } ?? false
        // Operations of the incarnation that has ended would be taken for those of a third one.
        if isReset, !hasDiverged, let position { buffer.drop(room: position.room) }
        if isReset { markedIndex = 0 }
        position = join.position
        digest = join.digest
        backoff.reset()
        recent.restart(after: join.position.index)
        board = (event, join.position.index)
        actions.append(isReset ? .reset(event) : .send(event))
    }

    /// Starts readers with the board or the tail of a join.
    private mutating func start(
        _ readers: [Reader], have: UInt64, with join: FeedJoin, at now: Duration, _ actions: inout [Action]
    ) {
        guard isLive, let position else {
            early += readers.map { ($0, nil) }
            return
        }
        var events: [StreamEvent] = []
        switch join.content {
        case .board(let start):
            events = [start]
            if join.position.room != position.room {
                // A new incarnation, of which the feed has not heard yet.
                move(to: join, start, &actions)
                for reader in readers { actions.append(.attach(reader, [start], after: 0)) }
                buffer.drop(through: join.position.index, of: join.position.room, othersBefore: .zero)
                addEarly(&actions)
                proceed(at: now, &actions)
                return
            }
            if board.map({ $0.index <= join.position.index }) ?? true { board = (start, join.position.index) }
        case .tail(let start):
            guard join.position.room == position.room else {
                for reader in readers { add(reader, have: nil, into: &actions) }
                return
            }
            // Readers who are ahead of what is released have nothing to get until that has passed them.
            if join.position.index >= have { events = [start] }
        case .operations:
            return
        }
        if let suffix = recent.after(join.position.index) {
            for reader in readers { actions.append(.attach(reader, events + suffix, after: have)) }
        } else {
            for reader in readers {
                actions.append(.refuse(reader, .notReady("The room is too busy to be joined; ask again in a second.")))
            }
        }
    }
}
