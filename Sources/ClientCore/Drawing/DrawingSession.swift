internal import Ink
public import StrokeWire

/// A teacher who draws, in a browser or an app: samples of a pen and commands become messages and updates of wet ink, which
/// reach the room through the gateway, each once and in order.
///
/// It has no clock, no connection and no storage. Methods take the time since the start; after each call, and when the time of
/// ``Step/wait(until:)`` has come, the shell calls ``next(at:)`` until that waits, and carries out what it returns. What is drawn
/// is stored before it is sent, and goes from the store when the room has answered and a checkpoint holds it: whatever ends
/// loses nothing that was stored.
///
/// Memory: at most 64 MiB of messages that wait, 32 MiB of those that no checkpoint holds and 32 MiB of those that the board
/// does not show yet, and the stroke under the pen.
public struct DrawingSession: Sendable {
    /// An action for the shell.
    public enum Step: Sendable, Equatable {
        /// Something has happened.
        case event(DrawingEvent)
        /// Read all records of the outbox, and call ``DrawingSession/loaded(_:wroteHere:at:)``.
        case load
        /// Store this, and call ``DrawingSession/stored(_:isKept:at:)``.
        case store(OutboxWrite)
        /// Remember whether this device is the one that the author writes on; see ``DrawingSession/loaded(_:wroteHere:at:)``.
        case note(writesHere: Bool)
        /// Send this, and call ``DrawingSession/answered(_:with:at:)`` or ``DrawingSession/failed(_:_:at:)``.
        case post(DrawingPost)
        /// Read `api/rooms/ROOM`, and call ``DrawingSession/looked(isWriting:isMuted:at:)``.
        case look
        /// Wait until this time, nil for ever, or the next call.
        case wait(until: Duration?)
    }

    /// What the pen draws with.
    public struct Tool: Sendable, Equatable {
        public var element: Element
        /// An index into the board's palette, or `0xRRGGBB`.
        public var colour: UInt32
        /// Of the line, in board units.
        public var width: Double

        public init(element: Element = .freehand, colour: UInt32 = 0, width: Double = 3) {
            (self.element, self.colour, self.width) = (element, colour, width)
        }
    }

    /// The author that draws.
    public let author: String
    /// What messages say that the author is called; nil for the author itself.
    let name: String?
    /// UTC milliseconds at the time 0.
    let startTime: Double
    var random: SeededGenerator

    var claim = WriterClaim()
    /// The pointers on the board, and the stroke under the pen.
    public internal(set) var pen = Pen()
    /// What the pen draws with from its next stroke on.
    public var tool = Tool()
    /// Whether lines and arrows are held to multiples of 15°, and ellipses and rectangles to squares: Shift is down.
    public var isEven = false { didSet { pen.constraint = isEven ? drawn?.element.constraint : nil } }
    /// The stroke that is being drawn for the room: its message without number and points.
    var drawn: StrokeMessage?
    /// The rough stroke of the even shape that is being drawn, and that of the one that was published last.
    var rough: PenStroke?
    var replaced: (operation: OperationKey, header: StrokeMessage, points: [StrokePoint])?
    /// When the pointer that is being drawn began; nil where that is not known yet.
    var pointerBegan: Duration?
    /// The pointer that moves above the board without touching it; nil while none does.
    var hover: HoverStroke?
    var outbox = Outbox()
    var undoSteps = UndoSteps()
    var sender = StrokeSender()
    /// Whether what waits may be sent, and whether a session that is over is taken as that.
    var isSending = false
    var followsSessions = true
    var wetSender = WetSender()
    /// Ids of the requests under way.
    var strokePost: Int?
    var wetPost: Int?
    private var lastPost = 0
    var head = HeadBoard()
    /// The room's incarnation; nil while the board is not joined.
    var incarnation: String?

    /// Steps that are ready.
    var steps: [Step] = []
    var isLiveStale = true
    private var toldPages: BoardPages?
    private var toldState: SendingState?

    /// - Parameters:
    ///   - author: 1 to 64 of `a` to `z`, `0` to `9`, `_` and `-`.
    ///   - name: what the author is called on boards; nil for the author.
    ///   - startTime: UTC milliseconds at the time 0.
    ///   - seed: 64 random bits, other ones for each run.
    public init(author: String, name: String? = nil, startTime: Double, seed: UInt64) {
        (self.author, self.startTime) = (author, startTime)
        self.name = name == author || name == "" ? nil : name
        random = SeededGenerator(seed: seed)
    }

    // MARK: - What is shown

    /// Operations that the room has not answered for.
    public var waitingCount: Int { outbox.waiting.count }
    /// The session in which this run numbers.
    public var session: String { outbox.session }
    /// Whether pens draw and commands are taken.
    public var canWrite: Bool { claim.canWrite }
    public var state: WriterClaim.State { claim.state }
    /// Whether the room takes nothing of this author.
    public var isMuted: Bool { claim.isMuted }

    /// The page that is seen, on which all that is drawn goes: while the pen is down it stays, even where another teacher turns
    /// to another one.
    public var page: Int { hover == nil ? drawn?.page ?? pages.shown : pages.shown }

    /// Which pages there are, with what the room has not answered for.
    public var pages: BoardPages { head.pages(with: outbox.waiting) }

    /// The strokes, images and lassos that the room does not show yet on the page that is seen, from the bottom to the top; the
    /// stroke under the pen is above them.
    public var live: [HeadBoard.LiveEntry] { live(without: []) }

    /// The same; entries whose ids are known have no message.
    package func live(without known: Set<UInt64>) -> [HeadBoard.LiveEntry] {
        head.live(on: page, with: outbox.waiting, without: known)
    }
}

// MARK: - The next step

extension DrawingSession {
    /// The next action. Call it until it waits.
    public mutating func next(at now: Duration) -> Step {
        tendPointer(at: now)
        carryOut(claim.passed(now), at: now)
        if claim.takeLook() { steps.append(.look) }
        if isLiveStale {
            isLiveStale = false
            steps.append(.event(.live))
            let pages = pages
            if pages != toldPages {
                toldPages = pages
                steps.append(.event(.pages(pages)))
            }
        }
        if !steps.isEmpty { return steps.removeFirst() }
        if let write = outbox.takeWrite() { return .store(write) }
        var wake = claim.wake.earlier(pointerWake)
        switch nextWet(at: now) {
        case .post(let session, let body, let outlivesShell):
            let post = makePost(.wet, session, body, outlivesShell: outlivesShell)
            wetPost = post.id
            return .post(post)
        case .wait(let time): wake = wake.earlier(time)
        case .idle: break
        }
        switch isSending ? sender.next(outbox, at: now) : .idle {
        case .post(let session, let body):
            let post = makePost(.strokes, session, body)
            strokePost = post.id
            return .post(post)
        case .wait(let time): wake = wake.earlier(time)
        case .idle: break
        }
        return .wait(until: wake)
    }

    private mutating func nextWet(at now: Duration) -> WetSender.Next {
        wetSender.next(
            OperationKey(session: outbox.session, number: outbox.next), hover?.stroke ?? pen.stroke, at: now)
    }

    mutating func makePost(
        _ target: DrawingPost.Target, _ session: String, _ body: [UInt8], outlivesShell: Bool = false
    ) -> DrawingPost {
        lastPost += 1
        return DrawingPost(id: lastPost, target: target, session: session, body: body, outlivesShell: outlivesShell)
    }
}

// MARK: - The shell's answers

extension DrawingSession {
    /// A write is stored, or the store cannot: then what is new is in memory alone, and the next write tries again.
    public mutating func stored(_ id: Int, isKept: Bool, at now: Duration) {
        let before = outbox.isKept
        outbox.stored(id, isKept: isKept)
        if before != outbox.isKept { tellOutbox() }
    }

    /// A request has its answer of 2xx.
    /// - Parameter body: of the answer to strokes.
    public mutating func answered(_ id: Int, with body: [UInt8], at now: Duration) {
        if id == wetPost {
            wetPost = nil
            wetSender.arrived()
        } else if id == strokePost {
            strokePost = nil
            let results: StrokeResults
            do {
                results = try StrokeResults(decoding: body)
            } catch {
                return sendingFailed(
                    GatewayFailure(status: 0, code: "unreadable", message: "The answer cannot be read."), at: now)
            }
            tell(.live)
            if let outcome = sender.answered(results, at: now, using: &random) { settle(outcome, at: now) }
        }
    }

    /// A request has another answer, or none.
    public mutating func failed(_ id: Int, _ failure: GatewayFailure, at now: Duration) {
        if id == wetPost {
            wetPost = nil
            wetSender.failed(failure, at: now)
        } else if id == strokePost {
            strokePost = nil
            sendingFailed(failure, at: now)
        }
    }

    /// Sends at once, if it waits to do so: the person wants it, or the network is back.
    public mutating func retry() { sender.retry() }

    private mutating func sendingFailed(_ failure: GatewayFailure, at now: Duration) {
        let time = sender.failed(failure, at: now, using: &random)
        tell(failure.isTransient ? .waiting(failure, until: time) : .refused(failure, until: time))
    }

    private mutating func tell(_ state: SendingState) {
        guard state != toldState else { return }
        toldState = state
        steps.append(.event(.sending(state)))
    }

    private mutating func settle(_ outcome: StrokeSender.Outcome, at now: Duration) {
        for (key, code, message) in outcome.rejected {
            guard let operation = outbox.remove(key) else { continue }
            if code == RejectionCode.muted.rawValue { noteMuted(true, at: now) }
            if let page = operation.header?.page { undoSteps.forget(page) }
            steps.append(
                .event(.rejected(number: key.number, code: code, message: message, operation: operation.wholeMessage)))
        }
        for (key, index) in outcome.applied {
            guard let operation = outbox.applied(key, in: outbox.room) else { continue }
            head.applied(operation, at: index)
            steps.append(.event(.applied(number: key.number, index: index)))
        }
        for key in outcome.renumbered { outbox.renumber(key, at: now) }
        if !outcome.applied.isEmpty || !outcome.rejected.isEmpty {
            isLiveStale = true
            tellOutbox()
        }
        guard outcome.isSessionOver else { return }
        let isKnown = followsSessions && claim.knowsOther && outbox.hasEarlierSession
        if followsSessions, !isKnown {
            stopSending()
            carryOut(claim.sessionOver(at: now), at: now)
        } else if !outcome.isUnknown {
            // Sent after the sender's pause, which grows while nothing gets through.
            if isKnown { carryOut(.resume, at: now) } else { renumberLeft(at: now) }
        }
    }

    mutating func tellOutbox() {
        steps.append(
            .event(.outbox(waiting: outbox.waiting.count, isKept: outbox.isKept, isFull: outbox.isFull)))
    }
}

// MARK: - Commands

extension DrawingSession {
    /// Publishes a command.
    ///
    /// - Parameter time: the media time in milliseconds; nil while it is not known.
    /// - Returns: whether it was taken: false while this shell does not write, the author is muted, the pen is down, or the
    ///   outbox is full; and for a turn and an arrange that change nothing.
    @discardableResult
    public mutating func perform(_ command: DrawingCommand, time: Int64?, at now: Duration) -> Bool {
        head.preview = nil
        isLiveStale = true
        if hover != nil { finishStroke(at: now) }
        guard canWrite, drawn == nil else { return false }
        guard let (header, points) = command.message(on: pages, head.size, time: time) else { return false }
        let replaced = replaced
        let isTaken =
            header.action == .undo || header.action == .redo
            ? enqueueStep(header, at: now) : enqueue(header, PointEncoder.interior(of: points), at: now)
        guard isTaken else { return false }
        // With nothing in between, it is the even shape that is undone.
        if case .undo = command, let replaced, replaced.header.page == page,
            replaced.operation.session == outbox.session, replaced.operation.number + 2 == outbox.next
        {
            var rough = replaced.header
            rough.time = time
            enqueue(rough, PointEncoder.interior(of: replaced.points.drawnBefore), at: now)
        }
        return true
    }

    /// Shows the page as if what is inside of a path were cut away, until ``perform(_:time:at:)`` is called or this is with nil.
    public mutating func previewCut(_ path: [StrokePoint]?) {
        guard path != nil || head.preview != nil else { return }
        isLiveStale = true
        let page = page
        let cut = path.flatMap { path in
            DrawingCommand.lasso(path, nil, keepsOriginal: false, page: page).message(on: pages, head.size, time: nil)
        }
        head.preview = cut.map { header, points in
            let message = header.encoded(interior: PointEncoder.interior(of: points)[...])
            return (page, HeadBoard.LiveEntry(id: outbox.makeID(), message: message))
        }
    }

    /// Points of one message; a longer stroke goes out in shards.
    static let shardPoints = 400

    @discardableResult
    mutating func enqueue(_ header: StrokeMessage, _ interior: [UInt8], at now: Duration) -> Bool {
        defer { tellOutbox() }
        guard !outbox.isFull else { return false }
        replaced = nil
        var header = header
        header.number = outbox.next
        var messages = ShardCutter.cut(header, interior: interior[...], pointsPerShard: Self.shardPoints)
        if let name { messages = messages.map { StrokeMessage.named($0, name) } }
        if let first = try? StrokeMessage(decoding: messages[0], limits: .any) { header = first }
        undoSteps.add(header)
        outbox.add(messages, header, at: now)
        isLiveStale = true
        return true
    }
}

extension Duration? {
    func earlier(_ other: Duration?) -> Duration? {
        guard let self, let other else { return self ?? other }
        return min(self, other)
    }
}

extension Duration {
    /// Down to microseconds.
    package var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds / 1_000_000_000_000) / 1000
    }
}
