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
    /// Whether this shell is the one that writes for its author.
    public enum State: UInt8, Sendable {
        /// Not known yet.
        case waiting
        case writer
        /// Another shell that shares the store writes.
        case elsewhere
        /// Another device has begun to write, or had before this one was opened; see ``DrawingSession/takeOver(at:)``.
        case superseded
    }

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

    /// An entry that is shown above the room's: what the room has not answered for yet, or does not show yet.
    public struct LiveEntry: Sendable, Equatable {
        /// Names the entry; another id is another entry.
        public let id: UInt64
        /// The message as it is drawn, with all its points.
        public let message: [UInt8]
    }

    /// The stroke that is being drawn for the room.
    private struct DrawnStroke {
        /// The message without number and points.
        var header: StrokeMessage
    }

    /// Time between two looks at whether a muted author is muted still.
    private static let mutedInterval = Duration.seconds(5)
    /// In which a device that another one has taken over from tells of what it had left, and for how long that is remembered:
    /// its session for it is not another take-over.
    private static let leftWait = Duration.milliseconds(1500)
    private static let leftTime = Duration.seconds(10)
    /// How long the answer is waited for whether the author writes on another device.
    private static let lookTime = Duration.seconds(3)

    /// Who draws.
    public let author: String
    /// What messages say that the author is called; nil for the author itself.
    private let name: String?
    /// UTC milliseconds at the time 0.
    private let startTime: Double
    private var random: SeededGenerator

    public private(set) var state = State.waiting
    /// Whether the room takes nothing of this author.
    public private(set) var isMuted = false
    /// The pointers on the board, and the stroke under the pen.
    public private(set) var pen = Pen()
    /// What the pen draws with from its next stroke on.
    public var tool = Tool()
    private var drawn: DrawnStroke?
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
    /// Whether this shell has the right to write, before all others that share the store.
    private var hasRight = false
    private var isLoading = false
    /// Until when the answer is waited for whether the author writes elsewhere.
    private var lookDeadline: Duration?
    private var isLooking = false
    private var nextMutedLook: Duration?
    /// When a stroke that another device had left was seen last, and until when one is waited for after a session is over.
    private var leftTime: Duration?
    private var overDeadline: Duration?

    // The board at the head of the room's log.
    private var boardSize = (width: 1024.0, height: 768.0)
    private var boardPages = BoardPages()
    private var boardIndex: UInt64 = 0
    /// The room's incarnation; nil while the board is not joined.
    private var incarnation: String?
    /// Applied operations that the board does not show yet.
    private var unshown: [(index: UInt64, entry: OperationOutbox.Entry)] = []
    /// A lasso that is shown before it is published.
    private var preview: (page: Int, entry: LiveEntry)?

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
    public var canWrite: Bool { state == .writer && !isMuted }

    /// The page that is seen, on which all that is drawn goes: while the pen is down it stays, even where another teacher turns
    /// to another one.
    public var page: Int { drawn?.header.page ?? pages.shown }

    /// Which pages there are, with what the room has not answered for.
    public var pages: BoardPages {
        var pages = boardPages
        forEachUnseen { entry in
            guard let header = entry.header else { return }
            switch header.action {
            case .draw: pages.add(header.page ?? pages.shown)
            case .turn: if let page = header.page { pages.turn(to: page) }
            case .arrange: if let order = header.order { pages.arrange(order) }
            case .undo, .redo, .clear: break
            }
        }
        return pages
    }

    /// The strokes, images and lassos that the room does not show yet on the page that is seen, from the bottom to the top; the
    /// stroke under the pen is above them.
    public var live: [LiveEntry] { live(without: []) }

    /// The same; entries whose ids are known have no message.
    package func live(without known: Set<UInt64>) -> [LiveEntry] {
        let page = page
        var entries: [OperationOutbox.Entry] = []
        forEachUnseen { entry in
            guard let header = entry.header, (header.page ?? page) == page else { return }
            switch header.action {
            case .draw: entries.append(entry)
            case .undo: _ = entries.popLast()
            case .clear: entries = []
            case .redo, .turn, .arrange: break
            }
        }
        var live = entries.map { entry in
            LiveEntry(id: entry.id, message: known.contains(entry.id) ? [] : entry.wholeMessage)
        }
        if let preview, preview.page == page { live.append(preview.entry) }
        return live
    }

    /// Of the stroke under the pen: its message, without number and points; nil where none is drawn for the room.
    public var drawnHeader: StrokeMessage? { drawn?.header }

    /// Operations that the board does not show yet, in their order.
    private func forEachUnseen(_ body: (OperationOutbox.Entry) -> Void) {
        for (_, entry) in unshown { body(entry) }
        for entry in outbox.waiting.entries where !entry.isSeen { body(entry) }
    }
}

// MARK: - The next step

extension DrawingSession {
    /// The next action. Call it until it waits.
    public mutating func next(at now: Duration) -> Step {
        actOnTime(now)
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
        var wake = lookDeadline.earlier(nextMutedLook).earlier(overDeadline)
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

    private mutating func actOnTime(_ now: Duration) {
        if let time = lookDeadline, time <= now { decide(isElsewhere: false, at: now) }
        if let time = overDeadline, time <= now { supersede(at: now) }
        if let time = nextMutedLook, time <= now {
            nextMutedLook = now + Self.mutedInterval
            look()
        }
    }

    private mutating func look() {
        guard !isLooking else { return }
        isLooking = true
        steps.append(.look)
    }
}

// MARK: - Who writes

extension DrawingSession {
    /// This shell has the right to write now, before all others that share its store, or has it no more.
    public mutating func rightChanged(_ hasRight: Bool, at now: Duration) {
        self.hasRight = hasRight
        if hasRight {
            isLoading = true
            steps.append(.load)
        } else {
            isLoading = false
            lookDeadline = nil
            stopSending()
            giveUpStroke()
            become(.elsewhere)
        }
    }

    /// The records of the outbox.
    ///
    /// - Parameters:
    ///   - records: all that are stored for this author and room; nil where the store cannot be read.
    ///   - wroteHere: whether the last ``Step/note(writesHere:)`` was true: else the author may write on another device, and
    ///     is asked before that one is cut off.
    public mutating func loaded(_ records: [StoredOperation]?, wroteHere: Bool, at now: Duration) {
        guard hasRight, isLoading else { return }
        isLoading = false
        outbox.open(records, session: makeSession(at: now))
        isLiveStale = true
        if wroteHere { return write(at: now) }
        lookDeadline = now + Self.lookTime
        look()
    }

    /// What the room tells of itself.
    ///
    /// - Parameters:
    ///   - isWriting: whether its `writers` have the author; nil where it has not answered.
    ///   - isMuted: whether its `muted` have the author; nil where it has not answered. A room that was closed has nobody muted.
    public mutating func looked(isWriting: Bool?, isMuted: Bool?, at now: Duration) {
        isLooking = false
        if lookDeadline != nil { decide(isElsewhere: isWriting ?? false, at: now) }
        if self.isMuted, let isMuted { noteMuted(isMuted, at: now) }
    }

    private mutating func decide(isElsewhere: Bool, at now: Duration) {
        lookDeadline = nil
        guard hasRight else { return }
        if isElsewhere { become(.superseded) } else { write(at: now) }
    }

    /// Writes here from now on, where another device does. Where another shell of the same store writes, that is for the shell:
    /// see ``rightChanged(_:at:)``.
    public mutating func takeOver(at now: Duration) {
        if state == .superseded { resume(at: now) }
    }

    private mutating func resume(at now: Duration) {
        (overDeadline, leftTime) = (nil, nil)
        stopSending()
        outbox.renumberAll(session: makeSession(at: now), at: now)
        isLiveStale = true
        if hasRight { write(at: now) }
    }

    private mutating func write(at now: Duration) {
        stopSending()
        followsSessions = true
        steps.append(.note(writesHere: true))
        become(.writer)
        isLiveStale = true
        // What an earlier run has sent may have to go out again, before anything new: the room says so.
        isSending = outbox.uncovered.isEmpty
        followRoom()
    }

    /// Another device writes as this author; or it has only sent what it had left, and this one goes on.
    private mutating func sessionOver(at now: Duration) {
        guard followsSessions else { return }
        if let leftTime, now - leftTime < Self.leftTime { return resume(at: now) }
        // The pen draws on meanwhile: what it draws is kept.
        if overDeadline == nil { overDeadline = now + Self.leftWait }
    }

    private mutating func supersede(at now: Duration) {
        overDeadline = nil
        // As far as it is drawn: its pen is taken away.
        finishStroke(at: now)
        steps.append(.note(writesHere: false))
        become(.superseded)
        guard !outbox.waiting.isEmpty else { return }
        // What was drawn before anybody could know goes out in a session of its own, and says that it is no more than that.
        outbox.renumberAll(session: makeSession(at: now), isLeft: true, at: now)
        isLiveStale = true
        guard hasRight else { return }
        stopSending()
        (isSending, followsSessions) = (true, false)
    }

    private mutating func stopSending() {
        isSending = false
        strokePost = nil
        sender.restart()
    }

    private mutating func become(_ state: State) {
        self.state = state
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
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        if isMuted { giveUpStroke() }
        pen.isEnabled = canWrite
        // Nobody is told of the end of it.
        nextMutedLook = isMuted ? now + Self.mutedInterval : nil
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
        boardSize = (width, height)
    }

    /// The pages of the board.
    public mutating func boardChanged(pages: BoardPages) {
        boardPages = pages
        isLiveStale = true
    }

    /// The board shows all operations through this one.
    public mutating func boardChanged(index: UInt64) {
        boardIndex = index
        unshown.removeAll { $0.index <= index }
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
            leftTime = now
            if overDeadline != nil { resume(at: now) }
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
            if index > boardIndex, !entry.isSeen { unshown.append((index, entry)) }
            steps.append(.event(.applied(number: key.number, index: index)))
        }
        for key in outcome.renumbered { outbox.renumber(key, at: now) }
        if !outcome.applied.isEmpty || !outcome.rejected.isEmpty {
            isLiveStale = true
            tellOutbox()
        }
        guard outcome.isSessionOver else { return }
        stopSending()
        sessionOver(at: now)
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
            time: time, boardWidth: boardSize.width, boardHeight: boardSize.height, page: page)
        drawn = DrawnStroke(header: header)
        wetSender.begin(
            WetStrokeStyle(
                colour: header.colour, width: header.width, element: header.element, time: time,
                boardWidth: header.boardWidth, boardHeight: header.boardHeight, page: header.page))
        steps.append(.event(.drawing(true)))
    }

    private mutating func finishStroke(at now: Duration) {
        guard let header = drawn?.header else { return }
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
    /// What no pen draws. Undo, redo and clear concern the page that is seen.
    public enum Command: Sendable, Equatable {
        case undo
        case redo
        case clear
        /// Shows a page, 0 … 999, to all; one that was never seen before comes last.
        case turn(Int)
        /// Sets the order of the pages; those left out are out of sight, with their ink.
        case arrange([Int])
        /// Puts a page of an asset into a box, in board units, on the page that is seen.
        case image(ImageSource, x: Double, y: Double, width: Double, height: Double)
        /// Moves, copies or cuts away what is inside of a path of 3 to 1,024 corners on a page, nil for the one that is seen.
        case lasso([StrokePoint], LassoMap?, keepsOriginal: Bool, page: Int?)
    }

    /// Publishes a command.
    ///
    /// - Parameter time: the media time in milliseconds; nil while it is not known.
    /// - Returns: whether it was taken: false while this shell does not write, the author is muted, the pen is down, or the
    ///   outbox is full; and for a turn and an arrange that change nothing.
    @discardableResult
    public mutating func perform(_ command: Command, time: Int64?, at now: Duration) -> Bool {
        preview = nil
        isLiveStale = true
        guard canWrite, drawn == nil else { return false }
        let pages = pages
        var header = StrokeMessage(number: 0, time: time, page: pages.shown)
        var points: [StrokePoint] = []
        switch command {
        case .undo: header.action = .undo
        case .redo: header.action = .redo
        case .clear: header.action = .clear
        case .turn(let page):
            guard page != pages.shown else { return false }
            (header.action, header.page) = (.turn, page)
        case .arrange(let order):
            guard order != pages.order else { return false }
            (header.action, header.page, header.content) = (.arrange, nil, .order(order))
        case .image(let source, let x, let y, let width, let height):
            header.element = .image
            header.content = .image(source.asset, page: source.page)
            points = [StrokePoint(x: x, y: y), StrokePoint(x: x + width, y: y + height)]
        case .lasso(let path, let map, let keepsOriginal, let page):
            header = lasso(map, keepsOriginal: keepsOriginal, page: page ?? pages.shown)
            header.time = time
            points = path
        }
        if header.action == .draw { (header.boardWidth, header.boardHeight) = boardSize }
        return enqueue(header, PointEncoder.interior(of: points.map { $0.onGrid }), at: now)
    }

    /// Shows the page as if what is inside of a path were cut away, until ``perform(_:time:at:)`` is called or this is with nil.
    public mutating func previewCut(_ path: [StrokePoint]?) {
        guard path != nil || preview != nil else { return }
        isLiveStale = true
        guard let path else {
            preview = nil
            return
        }
        let page = page
        let message = lasso(nil, keepsOriginal: false, page: page)
            .encoded(interior: PointEncoder.interior(of: path.map { $0.onGrid })[...])
        preview = (page, LiveEntry(id: outbox.makeID(), message: message))
    }

    private func lasso(_ map: LassoMap?, keepsOriginal: Bool, page: Int) -> StrokeMessage {
        StrokeMessage(
            number: 0, element: .lasso, boardWidth: boardSize.width, boardHeight: boardSize.height, page: page,
            content: .lasso(map?.onGrid, keepsOriginal: keepsOriginal))
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

extension StrokePoint {
    /// With few digits.
    fileprivate var onGrid: StrokePoint {
        StrokePoint(
            x: x.rounded(parts: 100), y: y.rounded(parts: 100), force: force, altitude: altitude, azimuth: azimuth,
            milliseconds: milliseconds)
    }
}

extension LassoMap {
    /// With few digits, in the bounds of a message.
    fileprivate var onGrid: LassoMap {
        func bounded(_ number: Double) -> Double { min(max(number.rounded(parts: 1e6), -Self.bound), Self.bound) }
        return LassoMap(a: bounded(a), b: bounded(b), c: bounded(c), d: bounded(d), e: bounded(e), f: bounded(f))
    }
}

extension Duration? {
    fileprivate func earlier(_ other: Duration?) -> Duration? {
        guard let self, let other else { return self ?? other }
        return min(self, other)
    }
}
