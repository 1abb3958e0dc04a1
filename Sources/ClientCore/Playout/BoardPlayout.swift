public import StrokeWire
import Whiteboard

/// State machine of a student who reads a gateway's event stream: the board of a room in step with the student's player.
///
/// A gateway releases operations when the video of the cohort has passed them; a player that is farther behind holds them
/// until it has passed them, too. Strokes of a joined board that the player has not reached are veiled, and points of strokes
/// being drawn appear when the player has passed them.
///
/// It has no clock and no connection: methods take the time since the start and the player's time, and return actions.
/// Events that a gateway cannot send, or that contradict the board, ask for a restart of the stream and change nothing.
///
/// Memory: the board, as ``FollowedBoard`` bounds it; ``heldBytes`` of operations that wait; strokes being drawn, as
/// ``WetInk`` bounds them.
public struct BoardPlayout: Sendable {
    /// Bytes of operations that wait for the player, ``heldOverhead`` and its message for each. Beyond, the board is
    /// joined anew, with what the player has not reached veiled.
    public static let heldBytes = 32 << 20
    /// What an operation that waits weighs besides its message.
    static let heldOverhead = 512
    /// How long an operation waits for a player that runs, or tells nothing, unless said.
    public static let maximumHold = Duration.seconds(30)
    /// Strokes that grow are looked for among so many operations that wait, as the service does it.
    private static let mostGrowing = 64

    private struct Held: Sendable {
        let operation: ReleasedOperation
        let header: StrokeMessage
        let due: MediaTime?

        /// Whether strokes behind it do not grow before it is applied.
        var isBarrier: Bool { header.action != .draw || header.element == .lasso }
        var isPointer: Bool { header.action == .draw && header.element == .pointer }
    }

    /// The board that is shown.
    public private(set) var board = StudentBoard()
    /// Incarnation of the room; empty while nobody has written to it.
    public var room: String { board.room }
    /// Index of the last operation that the gateway has sent.
    public private(set) var received: UInt64 = 0
    /// Whether the board is there, and follows the room.
    public private(set) var isJoined = false
    public private(set) var palette = Palette.standard
    /// The ink style's name in the last join reply; nil before the first.
    public private(set) var style: String?
    /// What the service offers beyond strokes on one page.
    public private(set) var features: BoardFeatures = []
    /// The author of the last operation that is shown; nil while there is none.
    public private(set) var lastAuthor: AuthorID?
    /// Whether the cohort's operations wait for a video; nil while the room has not said.
    public private(set) var gate: GateState?
    /// The strokes that are being drawn.
    public private(set) var wetInk = WetInk()
    private var pointing = Pointers()
    /// When the board was joined: what comes at once then is old.
    private var joinedAt = Duration.zero
    private static let catchUpTime = Duration.milliseconds(500)
    /// The pointers that are seen, as ``grow(_:on:at:)`` has found them.
    public var pointers: [PointerSight] { pointing.sights }
    /// Whether a pointer is seen or will be: ``grow(_:on:at:)`` is to be called.
    package var hasPointers: Bool { !pointing.isEmpty }
    /// Indices of strokes of the board that the player has not reached.
    public private(set) var veiled: Set<UInt64> = []
    /// The session whose strokes the caller draws itself while they are wet.
    public var ownSession: String?

    /// The author whose pointers the caller shows itself: those without wet ink are passed over.
    /// ``point(to:by:colour:width:on:at:)`` sets it.
    public var ownAuthor: AuthorID? {
        get { pointing.ownAuthor }
        set { pointing.ownAuthor = newValue }
    }

    private let followsPlayer: Bool
    /// Whether the feed is ungated: predicted points are shown.
    private var isHead: Bool
    /// Whether strokes grow in this cohort: they are due when the player has reached their end, not their beginning.
    private var isProgressive = false
    private var held: PlayoutQueue<Held>
    private var veil: PlayoutQueue<Stroke>
    private var watch = PlayerWatch()
    private var names = AuthorNames()

    /// - Parameters:
    ///   - followsPlayer: whether anything waits for a player. Otherwise the service's gate alone decides, and the player's
    ///     time is not looked at.
    ///   - isHead: whether the feed is that of teachers, ahead of every video.
    ///   - maximumHold: how long an operation waits for a player that runs, or tells nothing.
    public init(
        followsPlayer: Bool, isHead: Bool = false, maximumHold: Duration = BoardPlayout.maximumHold
    ) {
        (self.followsPlayer, self.isHead) = (followsPlayer, isHead)
        held = PlayoutQueue(maximumHold: maximumHold)
        veil = PlayoutQueue(maximumHold: maximumHold)
    }

    /// Operations and strokes that wait for the player.
    public var heldCount: Int { held.count + veiled.count }

    /// How far the last of them lies ahead of the player; zero while that is not known.
    public func lead(of player: MediaTime?) -> Duration { max(held.lead(of: player), veil.lead(of: player)) }

    /// How long until the next ``look(_:at:)``; nil for not before the next event.
    public func wait(_ player: MediaTime?) -> Duration? {
        guard let one = held.wait(player) else { return veil.wait(player) }
        return min(one, veil.wait(player) ?? one)
    }
}

// MARK: - Events

extension BoardPlayout {
    /// An event arrived.
    ///
    /// - Parameters:
    ///   - data: its data, JSON in UTF-8.
    ///   - player: the player's media time; nil while unknown.
    public mutating func receive(
        _ event: PlayoutEvent, _ data: [UInt8], player: MediaTime?, at now: Duration
    ) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        watch.look(player, at: now)
        switch event {
        case .board: join(data, player, now, &actions)
        case .operation: take(data, player, now, &actions)
        case .wet: takeWet(data, now, &actions)
        case .mark: compare(data, &actions)
        }
        return actions
    }

    /// The stream is about another cohort from now on, and begins with a board. The board stays until then.
    public mutating func changeFeed(isHead: Bool) {
        (self.isHead, isProgressive) = (isHead, false)
        held.removeAll()
        wetInk.removeAll()
        let author = ownAuthor
        pointing = Pointers()
        ownAuthor = author
        (isJoined, joinedAt, watch) = (false, .zero, PlayerWatch())
    }

    private mutating func join(
        _ data: [UInt8], _ player: MediaTime?, _ now: Duration, _ actions: inout [PlayoutAction]
    ) {
        let reply: JoinReply
        do {
            reply = try JoinReply(decoding: data)
        } catch {
            return restart("A board cannot be read: \(error.message)", &actions)
        }
        do {
            board = try StudentBoard(reply)
        } catch {
            return restart(error.description, &actions)
        }
        let hadInk = wetInk.strokes.contains { $0.drawnAs != nil }
        let hadPointers = !pointers.isEmpty
        forget()
        (received, isJoined, watch, joinedAt) = (reply.index, true, PlayerWatch(), now)
        watch.look(player, at: now)
        (palette, style, features) = (reply.palette, reply.style, reply.features ?? features)
        if followsPlayer { veilStrokes(player, now) }
        if hadInk { actions.append(.wetInkChanged) }
        if hadPointers { actions.append(.pointersChanged) }
        actions.append(.joined)
        if case .board(_, _, let visible, _, _) = reply.content { lastAuthor = visible.last?.author }
        names.note(reply, &actions)
        actions.append(.incarnation(room))
    }

    private mutating func veilStrokes(_ player: MediaTime?, _ now: Duration) {
        // Of all pages in the order of the log: each waits for those before it.
        for stroke in board.visible {
            let bytes = stroke.message.bytes
            guard let header = try? StrokeMessage(accepted: bytes), let due = due(header, bytes) else { continue }
            if let player, due < player { continue }
            veiled.insert(stroke.index)
            veil.add(stroke, time: due, isLate: false, bytes: 0, player: player, at: now)
        }
    }

    private mutating func take(
        _ data: [UInt8], _ player: MediaTime?, _ now: Duration, _ actions: inout [PlayoutAction]
    ) {
        guard isJoined else { return }
        let operation: ReleasedOperation
        let header: StrokeMessage
        do {
            operation = try ReleasedOperation(decoding: data)
            guard operation.index > received else { return }
            guard operation.index == received + 1 else { return restart("An operation is missing.", &actions) }
            header = try operation.header()
        } catch {
            return restart(error.description, &actions)
        }
        let held = Held(operation: operation, header: header, due: due(header, operation.bytes))
        received = operation.index
        guard followsPlayer else {
            apply(held, player, &actions, at: now)
            return
        }
        let bytes = Self.heldOverhead + operation.bytes.count
        guard self.held.bytes + bytes <= Self.heldBytes else {
            return restart("Too many operations wait for the player.", &actions)
        }
        self.held.add(held, time: held.due, isLate: operation.isLate, bytes: bytes, player: player, at: now)
        look(player, now, &actions)
    }

    /// When the player has reached an operation; where strokes grow, their end. Nil where it has no time.
    private func due(_ header: StrokeMessage, _ bytes: [UInt8]) -> MediaTime? {
        guard let start = header.time.map({ MediaTime(milliseconds: $0) }) else { return nil }
        guard isProgressive, header.action == .draw else { return start }
        return start + GrowingPoints.reach(of: header.points, in: bytes)
    }

    private mutating func takeWet(_ data: [UInt8], _ now: Duration, _ actions: inout [PlayoutAction]) {
        let limits = WireLimits(messageBytes: .max, points: WetInk.mostPointsOfOne, colours: .rgb)
        guard isJoined, let release = try? WetRelease(decoding: data, limits: limits),
            release.index ?? .max > received, ownSession == nil || release.session != ownSession
        else { return }
        if !isHead { isProgressive = true }
        guard !release.isPointer else { return pointing.receive(release, at: now) }
        if case .givenUp = release.content { pointing.receive(release, at: now) }
        if wetInk.receive(release, showsPredicted: isHead, at: now) { actions.append(.wetInkChanged) }
    }

    private mutating func compare(_ data: [UInt8], _ actions: inout [PlayoutAction]) {
        guard let mark = try? Mark(decoding: data) else { return }
        if let covered = mark.covered { actions.append(.covered(covered, room: mark.room)) }
        if isJoined, board.room.isEmpty, !mark.room.isEmpty {
            board.room = mark.room
            actions.append(.incarnation(mark.room))
        }
        if let gate = mark.gate, gate != self.gate {
            self.gate = gate
            actions.append(.gate(gate))
        }
        if isJoined, mark.room == room, mark.index == board.index, mark.digest != board.digest {
            return restart("The digest of a mark is \(mark.digest), not \(board.digest).", &actions)
        }
        actions.append(.clock(mark.video))
    }

    private mutating func restart(_ why: String, _ actions: inout [PlayoutAction]) {
        isJoined = false
        held.removeAll()
        actions.append(.restart(why))
    }

    private mutating func forget() {
        held.removeAll()
        veil.removeAll()
        veiled = []
        wetInk.removeAll()
        pointing.removeAll()
        isJoined = false
    }
}

// MARK: - The player's time

extension BoardPlayout {
    /// Shows what the player has reached. Call it after ``wait(_:)``, and after the player has jumped.
    public mutating func look(_ player: MediaTime?, at now: Duration) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        watch.look(player, at: now)
        look(player, now, &actions)
        return actions
    }

    private mutating func look(_ player: MediaTime?, _ now: Duration, _ actions: inout [PlayoutAction]) {
        held.look(player, at: now)
        while let operation = held.takeDue(player) {
            guard apply(operation, player, &actions, at: now) else { return }
        }
        veil.look(player, at: now)
        while let stroke = veil.takeDue(player) {
            if veiled.remove(stroke.index) != nil { actions.append(.unveiled(stroke)) }
        }
    }

    /// - Returns: false when the operation contradicts the board, which is to be joined anew.
    @discardableResult
    private mutating func apply(
        _ held: Held, _ player: MediaTime?, _ actions: inout [PlayoutAction], at now: Duration
    ) -> Bool {
        let operation = held.operation
        let change: FollowedBoard.Change
        do {
            change = try board.apply(operation)
        } catch {
            restart(error.description, &actions)
            return false
        }
        lastAuthor = operation.author
        for stroke in change.hidden { veiled.remove(stroke.index) }
        names.note(operation.author, operation.bytes[...], &actions)
        // The operation takes the place of its wet stroke before the next frame.
        let wasWet = wetInk.settle(operation.author, held.header.number, at: now)
        if held.isPointer {
            pointing.complete(
                operation, number: held.header.number, isReleased: true,
                arrival: now - joinedAt < Self.catchUpTime ? .old : isProgressive ? .atEnd : .atBeginning, at: now)
        }
        actions.append(.applied(operation, change, wasWet: wasWet))
        if wasWet { actions.append(.wetInkChanged) }
        // One that was released late was not late for this player alone.
        if !operation.isLate { observe(held.due, player, &actions) }
        return true
    }

    /// Lets strokes grow that are being drawn on a page.
    ///
    /// - Parameter page: the one that is seen.
    /// - Returns: the actions, and how long, in media time, until there is more to show; nil for not before the next event.
    public mutating func grow(
        _ player: MediaTime?, on page: Int, at now: Duration
    ) -> (actions: [PlayoutAction], wait: Duration?) {
        var actions: [PlayoutAction] = []
        watch.look(player, at: now)
        let hasExpired = wetInk.expire(at: now)
        // Without a time nothing has been passed.
        let time = followsPlayer ? player ?? .distantPast : nil
        // As the service does it: nothing grows behind an operation of its author, or behind one that is no stroke.
        var authors: Set<AuthorID> = []
        var hasBarrier = false
        if followsPlayer, isProgressive {
            for waiting in held.prefix(Self.mostGrowing) {
                hasBarrier = waiting.isBarrier
                if hasBarrier { break }
                guard authors.insert(waiting.operation.author).inserted, !waiting.operation.isLate,
                    let start = waiting.header.time, let player, MediaTime(milliseconds: start) < player
                else { continue }
                if waiting.isPointer {
                    pointing.complete(
                        waiting.operation, number: waiting.header.number, isReleased: false, arrival: .atEnd, at: now)
                } else {
                    wetInk.complete(
                        waiting.operation, number: waiting.header.number, pointCount: waiting.header.points.count,
                        at: now)
                }
            }
        }
        var growths: [WetInk.Growth] = []
        var (isChanged, wait) = wetInk.grow(
            before: time, on: page, isHeldBack: { !$0.isComplete && (hasBarrier || authors.contains($0.author)) },
            into: &growths)
        for growth in growths {
            actions.append(.grew(author: growth.author, number: growth.number, points: growth.points))
            observe(growth.due, player, &actions)
        }
        if hasExpired || isChanged { actions.append(.wetInkChanged) }
        if wetInk.isEmpty, !isProgressive || held.isEmpty {
            wait = nil
        } else if followsPlayer {
            wait = min(max(wait ?? .milliseconds(100), .zero), .milliseconds(100))
        } else {
            wait = .seconds(1)
        }
        let (hasOtherPointers, pointerWait) = pointing.look(
            player, followsPlayer: followsPlayer, on: page, size: board.size, at: now,
            isHeldBack: { hasBarrier || authors.contains($0) })
        if hasOtherPointers { actions.append(.pointersChanged) }
        if !pointing.isEmpty {
            let longest: Duration = followsPlayer ? .milliseconds(100) : .seconds(1)
            wait = min(wait ?? longest, pointerWait ?? longest)
        }
        return (actions, wait)
    }

    /// Shows the pointer of the person at this board at once, above the page that is seen.
    ///
    /// - Parameters:
    ///   - place: in board units; nil when the pointer is lifted.
    ///   - author: who points. Operations of this author that come without wet ink were seen here already.
    ///   - colour, width: as in messages.
    ///   - page: the one that is seen.
    public mutating func point(
        to place: (x: Double, y: Double)?, by author: AuthorID, colour: UInt32, width: Double, on page: Int,
        at now: Duration
    ) {
        pointing.point(to: place, author, colour: colour, width: width, on: page, at: now)
    }

    /// Ink is drawn: how far is it from its picture?
    private func observe(_ due: MediaTime?, _ player: MediaTime?, _ actions: inout [PlayoutAction]) {
        guard followsPlayer, let due, let player else { return }
        actions.append(.skew(.microseconds(player - due), isCounted: watch.hasPlayed(due)))
    }
}
