public import StrokeWire

/// A teacher who draws, in a browser or an app: samples of a pen and commands become messages and updates of wet ink, which
/// reach the room through the gateway, each once and in order.
///
/// It has no clock, no connection and no storage. Methods take the time since the start; after each call, and when the time of
/// ``Step/wait(until:)`` has come, the shell calls ``next(at:)`` until that waits, and carries out what it returns. What is drawn
/// is stored before it is sent, and goes from the store when the room has answered and a checkpoint holds it: whatever ends
/// loses nothing that was stored.
///
/// Memory: at most 64 MiB of messages that wait and 32 MiB of those that no checkpoint holds, and the stroke under the pen.
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

    /// Who draws.
    public let author: String
    /// What messages say that the author is called; nil for the author itself.
    private let name: String?
    /// UTC milliseconds at the time 0.
    private let startTime: Double
    private var random: SeededGenerator

    private var claim = WriterClaim()
    /// The pointers on the board, and the stroke under the pen.
    public private(set) var pen = Pen()
    /// What the pen draws with from its next stroke on.
    public var tool = Tool()
    /// The stroke that is being drawn for the room: its message without number and points.
    private var drawn: StrokeMessage?
    private var outbox = OperationOutbox()
    private var sender = StrokeSender()
    /// Whether what waits may be sent, and whether a session that is over is taken as that.
    private var isSending = false
    private var followsSessions = true
    private var wetSender = WetSender()
    /// Ids of the requests under way.
    private var strokePost: Int?
    private var wetPost: Int?
    private var lastPost = 0
    private var head = HeadBoard()
    /// The room's incarnation; nil while the board is not joined.
    private var incarnation: String?

    /// Steps that are ready.
    private var steps: [Step] = []
    private var isLiveStale = true
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
    public var page: Int { drawn?.page ?? pages.shown }

    /// Which pages there are, with what the room has not answered for.
    public var pages: BoardPages { head.pages(with: outbox.waiting.entries) }

    /// The strokes, images and lassos that the room does not show yet on the page that is seen, from the bottom to the top; the
    /// stroke under the pen is above them.
    public var live: [HeadBoard.LiveEntry] { live(without: []) }

    /// The same; entries whose ids are known have no message.
    package func live(without known: Set<UInt64>) -> [HeadBoard.LiveEntry] {
        head.live(on: page, with: outbox.waiting.entries, without: known)
    }

    /// Of the stroke under the pen: its message, without number and points; nil where none is drawn for the room.
    public var drawnHeader: StrokeMessage? { drawn }
}

// MARK: - The next step

extension DrawingSession {
    /// The next action. Call it until it waits.
    public mutating func next(at now: Duration) -> Step {
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
        var wake = claim.wake
        switch nextWet(at: now) {
        case .post(let session, let body, let outlivesShell):
            wetPost = makePost()
            return .post(post(wetPost, .wet, session, body, outlivesShell))
        case .wait(let time): wake = wake.earlier(time)
        case .idle: break
        }
        switch isSending ? sender.next(outbox, at: now) : .idle {
        case .post(let session, let body):
            strokePost = makePost()
            return .post(post(strokePost, .strokes, session, body, false))
        case .wait(let time): wake = wake.earlier(time)
        case .idle: break
        }
        return .wait(until: wake)
    }

    private mutating func nextWet(at now: Duration) -> WetSender.Next {
        wetSender.next(OperationKey(session: outbox.session, number: outbox.next), pen.stroke, at: now)
    }

    private mutating func makePost() -> Int {
        lastPost += 1
        return lastPost
    }

    private func post(
        _ id: Int?, _ target: DrawingPost.Target, _ session: String, _ body: [UInt8], _ outlivesShell: Bool
    ) -> DrawingPost {
        DrawingPost(id: id ?? 0, target: target, session: session, body: body, outlivesShell: outlivesShell)
    }
}

// MARK: - Who writes

extension DrawingSession {
    /// This shell has the right to write now, before all others that share its store, or has it no more.
    public mutating func rightChanged(_ hasRight: Bool, at now: Duration) {
        carryOut(claim.rightChanged(hasRight), at: now)
    }

    /// The records of the outbox.
    ///
    /// - Parameters:
    ///   - records: all that are stored for this author and room; nil where the store cannot be read.
    ///   - wroteHere: whether the last ``Step/note(writesHere:)`` was true: else the author may write on another device, and
    ///     is asked before that one is cut off.
    public mutating func loaded(_ records: [StoredOperation]?, wroteHere: Bool, at now: Duration) {
        guard claim.isLoading else { return }
        outbox.open(records, session: makeSession(at: now))
        isLiveStale = true
        carryOut(claim.loaded(wroteHere: wroteHere, at: now), at: now)
    }

    /// What the room tells of itself.
    ///
    /// - Parameters:
    ///   - isWriting: whether its `writers` have the author; nil where it has not answered.
    ///   - isMuted: whether its `muted` have the author; nil where it has not answered. A room that was closed has nobody muted.
    public mutating func looked(isWriting: Bool?, isMuted: Bool?, at now: Duration) {
        carryOut(claim.looked(isWriting: isWriting), at: now)
        if self.isMuted, let isMuted { noteMuted(isMuted, at: now) }
    }

    /// Writes here from now on, where another device does. Where another shell of the same store writes, that is for the shell:
    /// see ``rightChanged(_:at:)``.
    public mutating func takeOver(at now: Duration) {
        if state == .superseded { carryOut(.resume, at: now) }
    }

    private mutating func carryOut(_ decision: WriterClaim.Decision?, at now: Duration) {
        switch decision {
        case .load: steps.append(.load)
        case .write: write()
        case .leaveToOther:
            stopSending()
            giveUpStroke()
            become(.elsewhere)
        case .standBack: become(.superseded)
        case .supersede: supersede(at: now)
        case .resume: resume(at: now)
        case nil: break
        }
    }

    private mutating func resume(at now: Duration) {
        claim.resumed()
        stopSending()
        outbox.renumberAll(session: makeSession(at: now), at: now)
        isLiveStale = true
        if claim.hasRight { write() }
    }

    private mutating func write() {
        stopSending()
        followsSessions = true
        steps.append(.note(writesHere: true))
        become(.writer)
        isLiveStale = true
        // What an earlier run has sent may have to go out again, before anything new: the room says so.
        isSending = outbox.uncovered.isEmpty
        followRoom()
    }

    private mutating func supersede(at now: Duration) {
        // As far as it is drawn: its pen is taken away.
        finishStroke(at: now)
        steps.append(.note(writesHere: false))
        become(.superseded)
        guard !outbox.waiting.isEmpty else { return }
        // What was drawn before anybody could know goes out in a session of its own, and says that it is no more than that.
        outbox.renumberAll(session: makeSession(at: now), isLeft: true, at: now)
        isLiveStale = true
        guard claim.hasRight else { return }
        stopSending()
        (isSending, followsSessions) = (true, false)
    }

    private mutating func stopSending() {
        isSending = false
        strokePost = nil
        sender.restart()
    }

    private mutating func become(_ state: WriterClaim.State) {
        claim.state = state
        pen.isEnabled = canWrite
        steps.append(.event(.writer(state)))
        tellOutbox()
    }

    /// A name that no client has used before: the time and 64 random bits.
    private mutating func makeSession(at now: Duration) -> String {
        let (seconds, attoseconds) = now.components
        let time = startTime + Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000_000_000)
        let number = time.isFinite && time > 0 && time < 0x1p53 ? Int64(time) : 0
        return "\(String(number, radix: 36))-\(String(random.next(), radix: 36))"
    }

    /// What a look at the room has shown: whether it takes nothing of this author.
    public mutating func noteMuted(_ isMuted: Bool, at now: Duration) {
        guard claim.noteMuted(isMuted, at: now) else { return }
        if isMuted { giveUpStroke() }
        pen.isEnabled = canWrite
        steps.append(.event(.muted(isMuted)))
    }
}

// MARK: - The room

extension DrawingSession {
    /// The board at the head was joined, or has its first operation.
    /// - Parameter incarnation: "" while nobody has written to the room.
    public mutating func joined(incarnation: String) {
        self.incarnation = incarnation
        followRoom()
    }

    /// The board is not in step with the room.
    public mutating func left() {
        incarnation = nil
    }

    private mutating func followRoom() {
        guard state == .writer, let incarnation else { return }
        if outbox.follow(incarnation) { tellOutbox() }
        isSending = true
    }

    /// The size of the board in its units.
    public mutating func boardChanged(width: Double, height: Double) {
        head.size = (width, height)
    }

    /// The pages of the board.
    public mutating func boardChanged(pages: BoardPages) {
        head.pages = pages
        isLiveStale = true
    }

    /// The board shows all operations through this one.
    public mutating func boardChanged(index: UInt64) {
        head.shows(through: index)
        isLiveStale = true
    }

    /// The board shows an operation of this author: one that waits for its answer is not drawn twice.
    /// - Parameter message: as the room tells it; that of a stroke in shards is joined.
    public mutating func boardShows(_ message: [UInt8], at now: Duration) {
        guard let header = try? StrokeMessage(decoding: message, limits: .outbox) else { return }
        if let entry = outbox.waiting.entries.first(where: { $0.isSame(header, message) }) {
            outbox.see(entry.key)
            isLiveStale = true
        } else if state == .writer, StrokeMessage.isLeft(message) {
            carryOut(claim.sawLeft(at: now), at: now)
        }
    }

    /// A stored checkpoint holds the author's operations of a session through this one.
    public mutating func covered(session: String, number: Int64) {
        if state == .writer { outbox.cover(OperationKey(session: session, number: number)) }
    }
}

// MARK: - The shell's answers

extension DrawingSession {
    /// A write is stored, or the store cannot: then what is new is in memory alone, and the next write tries again.
    public mutating func stored(_ id: Int, isKept: Bool, at now: Duration) {
        let before = outbox.isKept
        outbox.stored(id, isKept: isKept)
        if before != isKept { tellOutbox() }
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
    public mutating func retry() {
        sender.retry()
    }

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
            guard let entry = outbox.remove(key) else { continue }
            if code == RejectionCode.muted.rawValue { noteMuted(true, at: now) }
            steps.append(
                .event(.rejected(number: key.number, code: code, message: message, operation: entry.wholeMessage)))
        }
        for (key, index) in outcome.applied {
            guard let entry = outbox.applied(key) else { continue }
            head.applied(entry, at: index)
            steps.append(.event(.applied(number: key.number, index: index)))
        }
        for key in outcome.renumbered { outbox.renumber(key, at: now) }
        if !outcome.applied.isEmpty || !outcome.rejected.isEmpty {
            isLiveStale = true
            tellOutbox()
        }
        guard outcome.isSessionOver else { return }
        stopSending()
        if followsSessions { carryOut(claim.sessionOver(at: now), at: now) }
    }

    private mutating func tellOutbox() {
        steps.append(
            .event(.outbox(waiting: outbox.waiting.count, isKept: outbox.isKept, isFull: outbox.isFull)))
    }
}

// MARK: - Drawing

extension DrawingSession {
    /// Whether fingers draw, too.
    public var drawsWithFingers: Bool {
        get { pen.drawsWithFingers }
        set { pen.drawsWithFingers = newValue }
    }

    /// A pointer touches the board; see ``Pen``.
    ///
    /// - Parameters:
    ///   - isGesture: whether what it draws is for the shell and not for the room. The eraser end of a pen erases all the same.
    ///   - time: the media time in milliseconds; nil while it is not known.
    public mutating func penDown(
        _ pointer: Pen.Pointer, _ sample: Pen.Sample, isGesture: Bool = false, time: Int64?
    ) -> Pen.Change {
        let change = pen.down(pointer, sample)
        if change.isCancelled { giveUpStroke() }
        if change.hasBegun, !isGesture || pen.stroke.isErasing { beginStroke(time) }
        return change
    }

    /// A pointer has moved.
    public mutating func penMoved(
        _ id: Int, kind: Pen.Kind, _ samples: [Pen.Sample], predicted: [Pen.Sample] = [], at now: Duration
    ) -> Pen.Change {
        moved(pen.move(id, kind: kind, samples, predicted: predicted), at: now)
    }

    /// Values of a point of the stroke under the pen have come late.
    public mutating func penRevised(_ place: Int, _ sample: Pen.Sample, at now: Duration) -> Pen.Change {
        moved(pen.revise(place, sample), at: now)
    }

    private mutating func moved(_ change: Pen.Change, at now: Duration) -> Pen.Change {
        if drawn != nil, change.first != nil { wetSender.moved(change.first) }
        if change.hasEnded { finishStroke(at: now) }
        return change
    }

    /// A pointer is lifted, or was taken away without a word on its stroke.
    public mutating func penUp(_ id: Int, at now: Duration) -> Pen.Change {
        let change = pen.up(id)
        if change.hasEnded { finishStroke(at: now) }
        return change
    }

    /// The stroke of a pointer is taken back.
    public mutating func penCancelled(_ id: Int) -> Pen.Change {
        let change = pen.cancel(id)
        if change.isCancelled { giveUpStroke() }
        return change
    }

    private mutating func beginStroke(_ time: Int64?) {
        // Its page is named, so that a turn by another teacher does not move the ink.
        let header = StrokeMessage(
            number: 0, colour: tool.colour, width: tool.width, element: pen.stroke.isErasing ? .eraser : tool.element,
            time: time, boardWidth: head.size.width, boardHeight: head.size.height, page: page)
        drawn = header
        wetSender.begin(
            WetStrokeStyle(
                colour: header.colour, width: header.width, element: header.element, time: time,
                boardWidth: header.boardWidth, boardHeight: header.boardHeight, page: header.page))
        steps.append(.event(.drawing(true)))
    }

    private mutating func finishStroke(at now: Duration) {
        guard let header = drawn else { return }
        drawn = nil
        if outbox.isFull { wetSender.giveUp() } else { wetSender.end() }
        steps.append(.event(.drawing(false)))
        isLiveStale = true
        if !pen.stroke.points.isEmpty { enqueue(header, PointEncoder.interior(of: pen.stroke.points), at: now) }
    }

    private mutating func giveUpStroke() {
        guard drawn != nil else { return }
        drawn = nil
        wetSender.giveUp()
        steps.append(.event(.drawing(false)))
        isLiveStale = true
    }

    /// The shell may be about to end, and with it a stroke whose pen is down.
    /// - Returns: a request that is to go out at once.
    public mutating func leave() -> DrawingPost? {
        giveUpStroke()
        guard let (session, body) = wetSender.leave() else { return nil }
        return post(makePost(), .wet, session, body, true)
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
        guard canWrite, drawn == nil else { return false }
        guard let (header, points) = command.message(on: pages, head.size, time: time) else { return false }
        return enqueue(header, PointEncoder.interior(of: points), at: now)
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
    private static let shardPoints = 400

    @discardableResult
    private mutating func enqueue(_ header: StrokeMessage, _ interior: [UInt8], at now: Duration) -> Bool {
        defer { tellOutbox() }
        guard !outbox.isFull else { return false }
        var header = header
        header.number = outbox.next
        var messages = ShardCutter.cut(header, interior: interior[...], pointsPerShard: Self.shardPoints)
        if let name { messages = messages.map { StrokeMessage.named($0, name) } }
        if let first = try? StrokeMessage(decoding: messages[0], limits: .outbox) { header = first }
        outbox.add(messages, header, at: now)
        isLiveStale = true
        return true
    }
}

extension Duration? {
    fileprivate func earlier(_ other: Duration?) -> Duration? {
        guard let self, let other else { return self ?? other }
        return min(self, other)
    }
}
