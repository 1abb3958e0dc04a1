public import StrokeWire
import Whiteboard

/// State machine of a student: joins, applies released operations, detects gaps and divergence, and joins again.
///
/// It has no clock and no connection: methods take the time since the start and return actions. It implements the
/// protocol's joining procedure: buffer, join, drop known operations, require the next index.
public struct StudentSession: Sendable {
    private enum Phase: Sendable, Equatable {
        case offline
        /// Waits for the reply to a request sent at `since`.
        case joining(JoinRequest, ticket: Int, since: Duration)
        case live
        /// Requests again at this time.
        case backingOff(until: Duration)
    }

    /// The board of the feed.
    public private(set) var board = StudentBoard()
    /// The palette of the last join reply.
    public private(set) var palette = Palette.standard
    /// The ink style's name in the last join reply; nil before the first.
    public private(set) var style: String?
    /// Statistics so far.
    public private(set) var report = StudentReport()
    private var phase = Phase.offline
    /// Whether a join has succeeded; the board is the initial empty one before.
    private var hasBoard = false
    /// Whether the next join requests a board instead of a tail.
    private var needsBoard = false
    private var buffer = ReorderBuffer()
    private var conflictDetector = ConflictDetector()
    /// The board's index when the next operation was found missing, and since when.
    private var gap: (after: UInt64, since: Duration)?
    /// Highest index of the marks of this incarnation.
    private var markedIndex: UInt64 = 0
    private var backoff = JoinBackoff()
    /// Incarnation of the last mark received while not live.
    private var earlyMarkRoom: String?
    private var tickets = 0

    /// Makes a session that has not joined yet.
    public init() {}

    /// Digest of the visible strokes.
    public var digest: BoardDigest { board.digest }

    /// The connection is established or restored. Subscribe before.
    public mutating func connected(at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        requestJoin(at: now, &actions)
        return actions
    }

    /// The connection is lost; no requests are made until it is back.
    public mutating func disconnected() { phase = .offline }

    /// An operation or shard arrived.
    public mutating func receive(_ message: ReleasedMessage, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        adoptIncarnation(of: message)
        if !conflictDetector.agrees(with: message) {
            report.conflicts += 1
            actions.append(.emit(.problem(.conflict(index: message.index))))
            // The log has lost what the board has of this index, and digests need not show it.
            needsBoard = true
            rejoin(at: now, &actions)
        }
        if hasBoard, message.room == board.room, message.index <= board.index {
            report.repeats += 1
            return actions
        }
        if buffer.add(message, at: now) {
            proceed(at: now, &actions)
        } else {
            report.overflows += 1
            actions.append(.emit(.problem(.overflow)))
            rejoin(at: now, &actions)
        }
        return actions
    }

    /// A mark of the cohort arrived.
    public mutating func receive(_ mark: Mark, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard phase == .live else {
            earlyMarkRoom = mark.room
            return actions
        }
        if mark.room != board.room {
            if board.room.isEmpty, mark.index == 0 { return actions }
            needsBoard = true
            rejoin(at: now, &actions)
        } else if mark.index > board.index {
            markedIndex = max(markedIndex, mark.index)
            noticeGap(at: now)
        } else if mark.index == board.index, mark.digest != board.digest {
            diverged("digest \(board.digest) at \(board.index), the mark has \(mark.digest)", at: now, &actions)
        }
        return actions
    }

    /// Points of a stroke being drawn arrived. They change nothing; those of an operation that the board has are left out.
    /// - Parameter room: incarnation of the room.
    public func receive(_ wet: WetRelease, of room: String) -> [StudentAction] {
        guard phase == .live, board.room.isEmpty || board.room == room else { return [] }
        return wet.index ?? .max > board.index ? [.emit(.wet(wet))] : []
    }

    /// A message arrived that cannot be decoded.
    public mutating func receiveMalformed(_ why: String) -> [StudentAction] {
        report.malformed += 1
        return [.emit(.problem(.malformed(why)))]
    }

    /// Input was lost before it was read: messages or changes of the connection. A join repairs that.
    public mutating func inputLost(at now: Duration) -> [StudentAction] {
        report.overflows += 1
        var actions = [StudentAction.emit(.problem(.overflow))]
        requestJoin(at: now, &actions)
        return actions
    }

    /// When to call ``wake(at:)``, unless another event comes first; nil for never.
    public var deadline: Duration? {
        switch phase {
        case .offline, .joining: nil
        case .live: gap.map { $0.since + backoff.timeout }
        case .backingOff(let until): until
        }
    }

    /// The deadline has passed.
    public mutating func wake(at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard let deadline, now >= deadline else { return actions }
        if case .live = phase {
            report.gaps += 1
            actions.append(.emit(.problem(.gap(after: board.index))))
            report.rejoins += 1
            backoff.lengthen()
        }
        requestJoin(at: now, &actions)
        return actions
    }

    /// Requests a tail where the board allows it, otherwise a board.
    private mutating func requestJoin(at now: Duration, _ actions: inout [StudentAction]) {
        tickets += 1
        let keeps = hasBoard && !needsBoard && !board.room.isEmpty
        let request = keeps ? JoinRequest(incarnation: board.room, have: board.index) : JoinRequest()
        phase = .joining(request, ticket: tickets, since: now)
        earlyMarkRoom = nil
        gap = nil
        actions.append(.join(request, ticket: tickets))
    }

    /// Joins again after a problem: at once, or with a delay when the last joins made no progress.
    private mutating func rejoin(at now: Duration, _ actions: inout [StudentAction]) {
        guard phase == .live else { return }
        report.rejoins += 1
        if backoff.isOn {
            phase = .backingOff(until: now + backoff.timeout)
        } else {
            requestJoin(at: now, &actions)
        }
        backoff.lengthen()
    }

    /// A student who joined a room without operations takes the incarnation of the first operation.
    private mutating func adoptIncarnation(of message: ReleasedMessage) {
        if phase == .live, hasBoard, board.room.isEmpty { board.room = message.room }
    }
}

extension StudentSession {
    /// A join reply arrived. The reply to an outdated request is ignored.
    public mutating func joined(_ reply: JoinReply, ticket: Int, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard case .joining(let request, ticket, let since) = phase else { return actions }
        // Operations of other incarnations that arrived before the request are outdated.
        buffer.drop(through: 0, of: reply.room, othersBefore: reply.room.isEmpty ? .zero : since)
        // The room was closed: operations of the known incarnation are outdated too.
        if reply.room.isEmpty, !board.room.isEmpty { buffer.drop(room: board.room) }
        phase = .live
        (palette, style) = (reply.palette, reply.style)
        let before = (board.room, board.index)
        switch reply.content {
        case .board: takeBoard(reply, request, at: now, &actions)
        case .tail(let operations): applyTail(operations, reply, request, at: now, &actions)
        }
        guard phase == .live else { return actions }
        report.joins += 1
        hasBoard = true
        needsBoard = false
        if board.room.isEmpty, let room = buffer.newestRoom { board.room = room }
        if (board.room, board.index) != before { backoff.reset() }
        buffer.drop(through: board.index, of: board.room, othersBefore: .zero)
        proceed(at: now, &actions)
        // A mark of another incarnation came during the join, maybe the only sign of a close.
        if let marked = earlyMarkRoom, marked != board.room {
            earlyMarkRoom = nil
            needsBoard = true
            rejoin(at: now, &actions)
        }
        return actions
    }

    /// A join request failed.
    public mutating func joinFailed(_ why: JoinFailure, ticket: Int, at now: Duration) -> [StudentAction] {
        guard case .joining(_, ticket, _) = phase else { return [] }
        report.failedJoins += 1
        phase = .backingOff(until: now + backoff.timeout)
        backoff.lengthen()
        return [.emit(.problem(.joinFailed(why)))]
    }

    private mutating func takeBoard(
        _ reply: JoinReply, _ request: JoinRequest, at now: Duration, _ actions: inout [StudentAction]
    ) {
        // A service that is behind for a while answers with a tail. Where it has a board for one who has more, its log has lost
        // what follows, and gives these indices again.
        do throws(StudentBoard.Divergence) {
            let taken = try StudentBoard(reply)
            if taken.room != board.room || taken.index < board.index { markedIndex = 0 }
            board = taken
        } catch {
            diverged(error.description, at: now, &actions)
            return
        }
        emitJoined(&actions)
    }

    private func emitJoined(_ actions: inout [StudentAction]) {
        actions.append(
            .emit(.joined(room: board.room, index: board.index, digest: board.digest, visible: board.visibleCount)))
    }

    private mutating func applyTail(
        _ operations: [JoinedOperation], _ reply: JoinReply, _ request: JoinRequest, at now: Duration,
        _ actions: inout [StudentAction]
    ) {
        guard request.have != nil, reply.room == board.room else {
            diverged("a tail of \(reply.room) came for a board of \(board.room)", at: now, &actions)
            return
        }
        emitJoined(&actions)
        for joined in operations where joined.index > board.index {
            do throws(MalformedRelease) {
                guard apply(try ReleasedOperation(joined), at: now, &actions) else { return }
            } catch {
                diverged(error.description, at: now, &actions)
                return
            }
        }
        if reply.index > board.index {
            diverged("a tail up to \(reply.index) ended at \(board.index)", at: now, &actions)
        } else if reply.index == board.index, reply.digest != board.digest {
            diverged("digest \(board.digest) at \(board.index), the join says \(reply.digest)", at: now, &actions)
        }
    }
}

extension StudentSession {
    /// Applies buffered operations up to the next gap.
    private mutating func proceed(at now: Duration, _ actions: inout [StudentAction]) {
        guard phase == .live else { return }
        while let operation = buffer.take(board.index &+ 1, of: board.room) {
            guard apply(operation, at: now, &actions) else { return }
        }
        if buffer.containsOther(than: board.room) {
            // The board's incarnation has ended.
            needsBoard = true
            rejoin(at: now, &actions)
        } else {
            noticeGap(at: now)
        }
    }

    /// - Returns: false when the operation contradicts the board, which is requested anew.
    private mutating func apply(
        _ operation: ReleasedOperation, at now: Duration, _ actions: inout [StudentAction]
    ) -> Bool {
        do throws(StudentBoard.Divergence) {
            try board.apply(operation)
        } catch {
            diverged(error.description, at: now, &actions)
            return false
        }
        report.applied += 1
        if operation.isLate { report.late += 1 }
        backoff.reset()
        actions.append(.emit(.applied(operation, room: board.room, digest: board.digest)))
        return true
    }

    /// Starts the timeout of a gap when the next operation is known to exist; each gap has its own.
    private mutating func noticeGap(at now: Duration) {
        guard buffer.contains(room: board.room) || markedIndex > board.index else {
            gap = nil
            return
        }
        if gap?.after != board.index { gap = (board.index, now) }
    }

    private mutating func diverged(_ why: String, at now: Duration, _ actions: inout [StudentAction]) {
        report.divergences += 1
        actions.append(.emit(.problem(.divergence(why))))
        needsBoard = true
        rejoin(at: now, &actions)
    }
}

/// What the caller of a ``StudentSession`` has to do.
public enum StudentAction: Sendable, Equatable {
    /// Send a join request, and pass its result back with this ticket.
    case join(JoinRequest, ticket: Int)
    /// Report an event to the user of the board.
    case emit(StudentEvent)
}
