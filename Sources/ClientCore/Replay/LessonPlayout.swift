public import StrokeWire
import Whiteboard

/// State machine of a player of a recorded lesson: the board as it was at the player's time, forwards and backwards, while
/// the lesson is fetched in parts.
///
/// It has no clock and no connection: methods take the player's time, and return actions; ``request(at:)`` says what to
/// fetch. Strokes whose points have times grow with them. A reply that contradicts the lesson begins it anew.
///
/// Memory: a weight of operations, boards among them as `RecordedLesson` bounds them, and a reply that is being added.
public struct LessonPlayout: Sendable {
    /// Operations in the first reply after a seek, and in those that are fetched ahead.
    private static let (firstPage, fullPage) = (200, 1000)
    /// Time before the player from which a lesson is fetched, in microseconds, and what it grows by where nothing was drawn
    /// in it.
    private static let firstLead: Int64 = 20_000_000
    private static let leadGrowth: Int64 = 6
    /// A gap before the player of so many microseconds is fetched, a longer one skipped.
    private static let shortGap: Int64 = 60_000_000
    /// Between two questions whether there is more of a lesson that goes on: the first, and the longest.
    private static let firstPoll = Duration.seconds(2)
    private static let longestPoll = Duration.seconds(30)
    /// Strokes that grow are looked for among so many operations, as the service does it.
    private static let mostGrowing = 64

    /// A reply that is being added.
    private struct Intake: Sendable {
        var reader: ReplayReplyReader
        let request: ReplayRequest?
        /// The last operation of the lesson before it.
        let last: UInt64
        /// The last operation of the reply so far.
        var added: UInt64
    }

    /// The board that is shown.
    public private(set) var board = StudentBoard()
    /// Whether the lesson was fetched as far as the first time of the player.
    public private(set) var hasBoard = false
    public private(set) var palette = Palette.standard
    /// The ink style's name; nil before anything was fetched.
    public private(set) var style: String?
    public private(set) var features: BoardFeatures = []
    /// The strokes that grow.
    public private(set) var wetInk = WetInk()
    /// The pointers that are seen: those of operations that are kept.
    public var pointers: [PointerSight] { pointing.sights }
    /// The encoder session on whose time line the player is; nil while nothing was released, unless it was named.
    public private(set) var epoch: Int64?
    /// The author of the last operation that is shown; nil while there is none.
    public private(set) var lastAuthor: AuthorID?
    public var veiled: Set<UInt64> { [] }

    private let namedEpoch: Int64?
    private let weightLimit: Int
    private var lesson: RecordedLesson
    private var time: MediaTime?
    private var names = AuthorNames()
    /// Indices of the strokes that grow, in the order of the log.
    private var growing: [UInt64] = []
    /// How long until one of them has another point, in media time.
    private var growth: Duration?
    private var pointing = LessonPointers()
    private var intake: Intake?
    /// What was asked for last.
    private var asked: ReplayRequest?
    private var lead = Self.firstLead
    private var pollInterval = Self.firstPoll
    private var polledAt: Duration?

    /// - Parameters:
    ///   - epoch: the encoder session on whose time line the player is; nil for the last one.
    ///   - grows: whether strokes grow. Otherwise they appear whole at their beginning.
    ///   - weightLimit: of the operations that are kept; a point weighs 1, and so do 100 bytes of a message.
    public init(epoch: Int64? = nil, grows: Bool = true, weightLimit: Int = 1_000_000) {
        (self.epoch, namedEpoch, self.weightLimit) = (epoch, epoch, weightLimit)
        lesson = RecordedLesson(grows: grows, weightLimit: weightLimit)
    }

    /// Incarnation of the room; empty before anything was fetched.
    public var room: String { lesson.room }
    /// The encoder sessions of the lesson, in the order of the log.
    public var epochs: [ReplayReply.Epoch] { lesson.epochs }
    /// The last operation of the lesson, as far as it was released; 0 for none.
    public var last: UInt64 { lesson.last }
    /// When pages came to be shown, as far as the lesson was fetched: the operations after which they are, in the order of the log.
    public var visits: [(index: UInt64, page: Int, time: MediaTime?)] {
        lesson.visits.map { ($0.index, $0.page, $0.time > .distantPast ? $0.time : nil) }
    }
    /// How many operations are kept.
    public var fetched: Int { lesson.count }
    /// The weight of these.
    var weight: Int { lesson.weight }
    /// Whether the board is that of the player's time.
    public var isThere: Bool { hasBoard && index == board.index }
    /// Whether a reply is being added; see ``add(while:)``.
    public var isAdding: Bool { intake != nil }

    /// The media times at which the player's epoch begins and ends; nil while they are not known.
    public var span: (from: MediaTime?, to: MediaTime?) {
        (lesson.epochs.first { $0.number == epoch }?.from, lesson.end(of: epoch))
    }

    /// How long until there is more to show, in media time; nil where that is not known.
    public var wait: Duration? {
        guard let time, let next = lesson.entry(board.index + 1), next.order.epoch == epoch else { return growth }
        let due = Duration.microseconds(next.order.time - time)
        return min(growth ?? due, due)
    }

    /// The index at the player's time; nil where that is not known.
    private var index: UInt64? { time.flatMap { lesson.index(before: $0, epoch: epoch) } }
}

// MARK: - Fetching

extension LessonPlayout {
    /// What to fetch next; nil for nothing now.
    public mutating func request(at now: Duration) -> ReplayRequest? {
        guard intake == nil else { return nil }
        guard var request = isThere ? requestAhead(at: now) : requestHere() else { return nil }
        request.epoch = epoch
        request.incarnation = lesson.room.isEmpty ? nil : lesson.room
        asked = request
        return request
    }

    /// For the board at the player's time.
    private func requestHere() -> ReplayRequest? {
        // The beginning tells how long the lesson is.
        guard let time else { return lesson.isEmpty ? ReplayRequest(limit: Self.firstPage) : nil }
        if let before = lesson.lastEntry(before: time, epoch: epoch), before.order.epoch == epoch,
            time - before.order.time < max(Self.shortGap, lead)
        {
            let last = lesson.stretch(before.operation.index).last
            if last == before.operation.index { return ReplayRequest(after: last, limit: Self.fullPage) }
        }
        let earliest = MediaTime(milliseconds: -0x1p53) ?? .distantPast
        return ReplayRequest(from: max(time - lead, earliest), limit: Self.firstPage)
    }

    /// For what will be needed: what follows, then what lies before, as far as both may be kept.
    private mutating func requestAhead(at now: Duration) -> ReplayRequest? {
        let (first, last, ahead) = lesson.stretch(board.index)
        let budget = lesson.capacity - Double(lesson.count)
        if last < lesson.last {
            // Where not all has room, so much that what is forgotten lies before the player.
            if Double(lesson.last - last) > budget, ahead > weightLimit / 4 { return nil }
            let gap = lesson.nextBoard(after: last).map { Int(clamping: $0 - last) } ?? .max
            let part = max(Int(min(lesson.capacity / 8, 1e6)), 1)
            return ReplayRequest(after: last, limit: max(min(Self.fullPage, gap, part), 1))
        }
        let done = lesson.stretch(0).last
        if first > done, Double(first - done) <= budget {
            return ReplayRequest(
                after: done > 0 ? done : nil, limit: min(Self.fullPage, Int(clamping: first - done)))
        }
        if let polledAt, now - polledAt < pollInterval { return nil }
        polledAt = now
        return ReplayRequest(after: last, limit: Self.fullPage)
    }

    /// A reply has come, to what was asked for last. ``add(while:)`` adds its operations.
    public mutating func receive(_ reply: [UInt8]) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        let before = lesson.last
        do throws(MalformedRelease) {
            let reader = try readable("a part") { () throws(Rejection) in try ReplayReplyReader(reply) }
            let board = try readable("a board") { () throws(Rejection) in try reader.board() }
            try lesson.begin(
                room: reader.room, epochs: reader.epochs,
                board: try board.map { (reply) throws(MalformedRelease) in try StudentBoard(part: reply) })
            if let board {
                (palette, style, features) = (board.palette, board.style, board.features ?? features)
                names.note(board, &actions)
            }
            intake = Intake(
                reader: reader, request: asked, last: before, added: board?.index ?? asked?.after ?? self.board.index)
        } catch {
            restart(error.description, &actions)
        }
        return actions
    }

    /// Adds operations of the reply.
    /// - Parameter isInTime: asked before each operation but the first. On false the next call goes on.
    /// - Returns: the actions; ``isAdding`` is false when all are there.
    public mutating func add(while isInTime: () -> Bool) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        guard var intake else { return actions }
        // One owner at a time: what is read is not copied.
        self.intake = nil
        do throws(MalformedRelease) {
            repeat {
                let entry = try readable("an operation") { () throws(Rejection) in try intake.reader.takeEntry() }
                guard let entry else {
                    finish(intake)
                    return actions
                }
                try lesson.add(entry)
                intake.added = entry.operation.index
                names.note(entry.operation.author, entry.operation.message, &actions)
            } while isInTime()
            self.intake = intake
        } catch {
            restart(error.description, &actions)
        }
        return actions
    }

    private mutating func finish(_ intake: Intake) {
        epoch = epoch ?? lesson.epochs.last?.number
        lesson.prune(around: index ?? intake.added)
        if intake.request?.from != nil, index == nil, lead < .max / (2 * Self.leadGrowth) { lead *= Self.leadGrowth }
        // A lesson that goes on is asked for more often.
        pollInterval = lesson.last > intake.last ? Self.firstPoll : min(pollInterval * 3 / 2, Self.longestPoll)
    }

    /// Begins anew: the room has another life now.
    /// - Parameter why: one sentence.
    public mutating func restart(_ why: String) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        restart(why, &actions)
        return actions
    }

    private mutating func restart(_ why: String, _ actions: inout [PlayoutAction]) {
        lesson = RecordedLesson(grows: lesson.grows, weightLimit: weightLimit)
        (epoch, hasBoard, intake, asked, growth) = (namedEpoch, false, nil, nil, nil)
        clearInk(&actions)
        clearPointers(&actions)
        actions.append(.restart(why))
    }
}

// MARK: - The player's time

extension LessonPlayout {
    /// Changes to the time line of another encoder session.
    public mutating func changeEpoch(_ epoch: Int64?, _ time: MediaTime?) -> [PlayoutAction] {
        self.epoch = epoch
        return look(time)
    }

    /// Shows the board at the player's time; nil while that is not known. Where the lesson around was not fetched, the board
    /// stays.
    public mutating func look(_ time: MediaTime?) -> [PlayoutAction] {
        var actions: [PlayoutAction] = []
        if let time, let before = self.time, time < before { clearInk(&actions) }
        self.time = time
        guard let time, let index, move(to: index, &actions) else {
            clearPointers(&actions)
            return actions
        }
        lead = Self.firstLead
        growth = nil
        let ahead = grow(time, &actions)
        let (isChanged, wait) = pointing.look(time, epoch, in: lesson, on: board, ahead: ahead)
        if let wait { growth = min(growth ?? wait, wait) }
        if isChanged { actions.append(.pointersChanged) }
        return actions
    }

    /// - Returns: whether the board could be had.
    private mutating func move(to index: UInt64, _ actions: inout [PlayoutAction]) -> Bool {
        if hasBoard, index == board.index { return true }
        if hasBoard, index > board.index, index - board.index <= UInt64(LessonReplay.mostSteps) {
            var steps: [LessonReplay.Entry] = []
            steps.reserveCapacity(Int(index - board.index))
            lesson.forEach(after: board.index) {
                steps.append($0)
                return $0.operation.index < index
            }
            if steps.last?.operation.index == index { return advance(steps, &actions) }
        }
        guard let board = lesson.board(at: index) else { return false }
        self.board = board
        hasBoard = true
        lastAuthor = lesson.entry(index)?.operation.author ?? lastVisible?.author
        clearInk(&actions)
        actions.append(.joined)
        return true
    }

    private var lastVisible: Stroke? { board.visible(on: board.pages.shown).last }

    private mutating func advance(_ steps: [LessonReplay.Entry], _ actions: inout [PlayoutAction]) -> Bool {
        var hadInk = false
        for step in steps {
            guard let change = try? board.apply(step.operation) else { return false }
            lastAuthor = step.operation.author
            // The operation takes the place of its wet stroke before the next frame.
            let wasWet = wetInk.settle(step.operation.author, step.number, at: .zero)
            hadInk = hadInk || wasWet
            actions.append(.applied(step.operation, change, wasWet: wasWet))
        }
        if hadInk { actions.append(.wetInkChanged) }
        return true
    }

    /// Lets strokes grow that the player is in, by the rules of the service for those in the log.
    /// - Returns: the pointers among these.
    private mutating func grow(_ time: MediaTime, _ actions: inout [PlayoutAction]) -> [LessonReplay.Entry] {
        guard lesson.grows else { return [] }
        var authors: Set<AuthorID> = []
        var (growing, left) = ([LessonReplay.Entry](), Self.mostGrowing)
        var pointers: [LessonReplay.Entry] = []
        lesson.forEach(after: board.index) { entry in
            guard left > 0, !entry.isBarrier, entry.order.epoch == epoch else { return false }
            left -= 1
            let isNext = authors.insert(entry.operation.author).inserted
            if isNext, entry.pointer != nil { pointers.append(entry) }
            if isNext, entry.isGrowing, let start = entry.start, start < time { growing.append(entry) }
            return true
        }
        // They lie above each other in the order of the log, whichever began to grow first.
        let indices = growing.map { $0.operation.index }
        let kept = self.growing.filter { indices.contains($0) }
        if !indices.starts(with: kept) { clearInk(&actions) }
        self.growing = indices
        for entry in growing {
            wetInk.complete(entry.operation, number: entry.number, pointCount: entry.pointCount, at: .zero)
        }
        var growths: [WetInk.Growth] = []
        let (isChanged, wait) = wetInk.grow(
            before: time, on: board.pages.shown, isHeldBack: { _ in false }, into: &growths)
        growth = wait
        for growth in growths {
            actions.append(.grew(author: growth.author, number: growth.number, points: growth.points))
        }
        if isChanged { actions.append(.wetInkChanged) }
        return pointers
    }

    private mutating func clearPointers(_ actions: inout [PlayoutAction]) {
        if pointing.clear() { actions.append(.pointersChanged) }
    }

    private mutating func clearInk(_ actions: inout [PlayoutAction]) {
        if wetInk.strokes.contains(where: { $0.drawnAs != nil }) { actions.append(.wetInkChanged) }
        wetInk.removeAll()
        growing = []
    }
}

private func readable<Value>(
    _ part: String, _ read: () throws(Rejection) -> Value
) throws(MalformedRelease) -> Value {
    do throws(Rejection) {
        return try read()
    } catch {
        throw MalformedRelease(description: "\(part) of the lesson cannot be read: \(error.message)")
    }
}
