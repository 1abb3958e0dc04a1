import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// The tests of Whiteboard drive a room with this probe, a gate alone with `VirtualRoom`, and compare both with plain models
/// (`ModelRoom`, `ModelGate`) under random loss. `Intake` tests order and loss, `Gate` clocks and releases, `Room` boards,
/// logs and checkpoints, `Wet` growing strokes, `Replay` recordings.
///
/// A room in virtual time, driven as the server drives it: advances only when it asks to, and gets its decisions back
/// from a journal.
struct RoomProbe {
    struct Told {
        let author: AuthorID
        let session: String?
        let feedback: Feedback
        let at: Instant
        /// Whether time brought it about, not an input.
        let isReminder: Bool
    }

    struct Shown {
        let cohort: CohortName
        let operation: Whiteboard.Operation
        let isLate: Bool
        let at: Instant
    }

    /// Of the room, in each of its lives.
    static let incarnation = "life"

    private(set) var room: Room
    private(set) var now: Instant
    /// How far the log's clock is ahead.
    let logAhead: Duration
    /// All inputs of the room, by log time.
    private(set) var inputs: [(at: Instant, input: RoomInput)] = []
    /// Delays after which copies of a decision come back from the journal.
    var decisionsReturn: [Duration] = [.zero]

    var told: [Told] = []
    private(set) var applied: [Whiteboard.Operation] = []
    private(set) var shown: [Shown] = []
    private(set) var marks: [(cohort: CohortName, mark: Mark, at: Instant)] = []
    private(set) var headMarks: [Mark] = []
    private(set) var wet: [(cohort: CohortName?, wet: WetPublication, at: Instant)] = []
    private(set) var decisions: [ControlRecord] = []
    /// When the room asked for each of them.
    private(set) var decisionTimes: [Instant] = []
    private var effects = RoomEffects()
    /// Positions of the effects that time brought about.
    private var reminders: [Range<Int>] = []
    private var returning: [(record: ControlRecord, at: Instant)] = []

    init(_ configuration: RoomConfiguration = RoomConfiguration()) {
        let start = Instant(nanoseconds: 1_000_000_000_000)
        self.init(Room(configuration: configuration, at: start), at: start, logAhead: .zero)
    }

    /// A room whose cohorts have these settings.
    init(_ cohorts: CohortSettings, log: LogRetention = LogRetention()) {
        self.init(RoomConfiguration(cohorts: CohortsConfiguration(defaults: cohorts), log: log))
    }

    init(_ room: Room, at now: Instant, logAhead: Duration) {
        (self.room, self.now, self.logAhead) = (room, now, logAhead)
    }

    var logTime: Instant { now + logAhead }

    var counts: RoomCounts { effects.counts }

    /// Gives the room messages, one after another.
    mutating func send(_ texts: String..., by author: AuthorID = .alice, session: String? = nil) {
        for text in texts { send(Array(text.utf8), by: author, session: session) }
    }

    mutating func send(_ bytes: [UInt8], by author: AuthorID = .alice, session: String? = nil) {
        take(.message(author, session: session, bytes))
    }

    /// Gives the room a sample of a cohort's clock.
    mutating func clock(_ milliseconds: Double, _ cohort: CohortName = .main, _ more: String = "") {
        receiveClock(Array(#"{"m":\#(milliseconds)\#(more)}"#.utf8), cohort)
    }

    mutating func receiveClock(_ bytes: [UInt8], _ cohort: CohortName = .main) { take(.sample(bytes, cohort)) }

    /// Gives the room an update of a stroke being drawn.
    mutating func draw(_ update: WetUpdate, by author: AuthorID = .alice, session: String? = nil) {
        draw(update.encoded(), by: author, session: session)
    }

    mutating func draw(_ bytes: [UInt8], by author: AuthorID = .alice, session: String? = nil) {
        room.receive(wetUpdate: bytes, of: author, session: session, at: now, into: &effects)
        settle()
    }

    /// Removes and returns what was published of growing strokes.
    mutating func takeWet() -> [(cohort: CohortName?, wet: WetPublication, at: Instant)] {
        defer { wet = [] }
        return wet
    }

    /// Gives the room a record that it did not ask for.
    mutating func record(_ record: ControlRecord) { take(.record(record)) }

    mutating func setOutput(isOpen: Bool) { take(.output(isOpen: isOpen)) }

    /// Gives the room an input and lets it do what is due.
    mutating func take(_ input: RoomInput) {
        feed(input)
        settle()
    }

    /// Gives the room an input without letting it advance, and discards its effects.
    mutating func recover(_ input: RoomInput, loggedAt: Instant) {
        input.feed(&room, loggedAt: loggedAt, at: now, into: &effects)
        effects.removeAll()
    }

    /// The room as another process has it from a checkpoint; by default from the one that the room would write now.
    func restored(_ checkpoint: [UInt8]? = nil, _ configuration: RoomConfiguration? = nil) throws -> Room {
        try Room(
            restoring: checkpoint ?? room.checkpoint().encoded(), configuration: configuration ?? room.configuration,
            at: now, logClockAhead: .zero)
    }

    func restarted() throws -> RoomProbe { RoomProbe(try restored(), at: now, logAhead: .zero) }

    mutating func restoreCursors(_ cursors: [CohortName: CohortCursor]) {
        room.restoreCursors(cursors, at: now)
        settle()
    }

    private mutating func feed(_ input: RoomInput) {
        inputs.append((logTime, input))
        input.feed(&room, loggedAt: logTime, at: now, into: &effects)
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next = nextEvent, next <= end {
            now = max(now, next)
            takeReturned()
            settle()
            if let wake = room.nextWake(after: now), wake <= now {
                Issue.record("the room asks to be woken again at once, \(now)")
                break
            }
        }
        now = end
    }

    /// The probe some time later.
    mutating func after(_ duration: Duration) -> RoomProbe {
        wait(duration)
        return self
    }

    /// The feedback to an author since the last call, some time later.
    mutating func takeTold(_ author: AuthorID = .alice, after duration: Duration = .zero) -> [String] {
        if duration > .zero { wait(duration) }
        defer { told.removeAll { $0.author == author } }
        return told.filter { $0.author == author }.map(\.feedback.summary)
    }

    /// The visible strokes at the head, bottom to top.
    var visible: [UInt64] { room.head.visible.map(\.index) }

    /// The indices released to a cohort, in order of release.
    func shown(_ cohort: CohortName = .main) -> [UInt64] {
        shown.filter { $0.cohort == cohort }.map(\.operation.index)
    }

    private var nextEvent: Instant? {
        [room.nextWake(after: now), returning.map(\.at).min()].compactMap(\.self).min()
    }

    private mutating func takeReturned() {
        while let position = returning.firstIndex(where: { $0.at <= now }) {
            feed(.record(returning.remove(at: position).record))
        }
    }

    private mutating func settle() {
        advance()
        var next = 0
        while next < effects.list.count {
            perform(effects.list[next], isReminder: reminders.contains { $0.contains(next) })
            next += 1
        }
        effects.list.removeAll(keepingCapacity: true)
        reminders = []
    }

    private mutating func advance() {
        let given = effects.list.count
        room.advance(to: now, into: &effects)
        reminders.append(given..<effects.list.count)
    }

    private mutating func perform(_ effect: RoomEffect, isReminder: Bool) {
        switch effect {
        case .feedback(let author, let session, let feedback):
            told.append(Told(author: author, session: session, feedback: feedback, at: now, isReminder: isReminder))
        case .head(let operation): applied.append(operation)
        case .release(let cohort, let operation, let isLate, _):
            shown.append(Shown(cohort: cohort, operation: operation, isLate: isLate, at: now))
        case .mark(nil, let mark): headMarks.append(mark)
        case .mark(let cohort?, let mark): marks.append((cohort, mark, now))
        case .wet(let cohort, let wet): self.wet.append((cohort, wet, now))
        case .record(let record):
            decisions.append(record)
            decisionTimes.append(now)
            for delay in decisionsReturn {
                guard delay == .zero else {
                    returning.append((record, now + delay))
                    continue
                }
                feed(.record(record))
                advance()
            }
        }
    }
}

extension ControlRecord {
    /// The decision of a probe's room about numbers of Alice.
    static func gaveUp(_ numbers: ClosedRange<Int64>) -> ControlRecord {
        .gaveUp(author: .alice, from: numbers.lowerBound, to: numbers.upperBound, incarnation: RoomProbe.incarnation)
    }
}

extension AuthorID {
    static let alice = known("alice")
    static let bob = known("bob")

    static func known(_ name: String) -> AuthorID {
        guard let author = AuthorID(name) else { preconditionFailure("\(name) is no author's name") }
        return author
    }
}

extension Whiteboard.Operation {
    /// The operation as one line, to be compared.
    var summary: String {
        let late = isLate ? " late" : ""
        let reference = reference.map { " \($0)" } ?? ""
        return "\(index) \(author.text) \(number) \(action)\(reference)\(late)"
    }
}

extension RoomProbe {
    /// A room that got a lesson, a hundred messages a second, without a clock.
    init(hearing lesson: SampleLesson) throws {
        self.init(CohortSettings(policy: .hold))
        for message in try lesson.messages() {
            wait(.milliseconds(10))
            send(message)
        }
    }
}

extension CohortName {
    /// A cohort on a slower path.
    static let hls = known("hls")

    static func known(_ name: String) -> CohortName {
        guard let cohort = CohortName(name) else { preconditionFailure("\(name) is no cohort's name") }
        return cohort
    }
}

extension CatchUp {
    func board() throws -> Board {
        guard case .board(let board) = content else { throw Unexpected("no board: \(content)") }
        return board
    }

    func tail() throws -> [Whiteboard.Operation] {
        guard case .tail(let operations) = content else { throw Unexpected("no tail: \(content)") }
        return operations
    }

    /// The reply as a client reads it.
    func reply(_ encoding: WireEncoding) throws -> JoinReply {
        let bytes = encoded(palette: .standard, style: "smooth", as: encoding)
        return encoding == .json ? try JoinReply(decoding: bytes) : try JoinReply(binary: bytes)
    }
}

extension FollowedBoard {
    /// Applies an operation as a client gets it.
    @discardableResult
    mutating func follow(_ operation: Whiteboard.Operation) throws -> Change {
        try apply(
            operation.index, by: operation.author, reference: operation.reference, page: operation.page,
            message: operation.restoredMessage)
    }
}

/// What a board shows and could bring back.
struct BoardLook: Equatable {
    let index: UInt64
    let digest: BoardDigest
    let visible: [[UInt8]]
    let undone: [UInt64]
    let size: BoardSize

    init(_ board: Board) {
        index = board.index
        digest = board.digest
        visible = board.visible.map(\.message.bytes)
        undone = board.undone.map(\.index)
        size = board.size
    }
}

extension HistoryConfiguration {
    /// Any rules of undo, with a depth from a range.
    static func random(depth: ClosedRange<Int>, using random: inout SeededGenerator) -> HistoryConfiguration {
        HistoryConfiguration(
            scope: random.pick(Scope.allCases), depth: random.int(depth), clear: random.pick(Clear.allCases))
    }
}

extension IntakeLimits {
    /// Rates that no test reaches.
    static let fast = IntakeLimits(messagesPerSecond: 1_000_000, bytesPerSecond: 1 << 30)
}

enum RoomInput {
    case message(AuthorID, session: String?, [UInt8])
    case record(ControlRecord)
    case sample([UInt8], CohortName)
    case output(isOpen: Bool)
    /// Not a real input: makes a room lose its clocks, as a restart does, to be compared with a restarted one.
    /// - Parameter saved: the cursors that the restarted one has; nil for those of now.
    case clocksLost([CohortName: CohortCursor]?)

    func feed(_ room: inout Room, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects) {
        switch self {
        case .message(let author, let session, let bytes):
            let message = IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: loggedAt)
            room.receive(message, incarnation: { RoomProbe.incarnation }, at: now, into: &effects)
        case .record(let record): room.receive(record, loggedAt: loggedAt, at: now, into: &effects)
        case .sample(let bytes, let cohort):
            room.receive(clockSample: bytes, cohort: cohort, at: now, into: &effects)
        case .output(let isOpen): room.setOutput(isOpen: isOpen)
        case .clocksLost(let saved):
            room.gate.forgetClocks(at: now, saved: saved)
        }
    }
}

extension Feedback {
    /// The feedback as one line, to be compared.
    var summary: String {
        switch self {
        case .applied(let number, let index): "applied \(number) as \(index)"
        case .missingShards(let number, let orders): "missing \(number) \(orders)"
        case .missingRange(let from, let to): "missing \(from)...\(to)"
        case .gaveUp(let from, let to): "gave up \(from)...\(to)"
        case .behindLive(let number, let milliseconds): "behind \(number) by \(milliseconds)"
        case .covered(let number, let incarnation): "covered \(number) in \(incarnation)"
        case .rejected(let number, let order, let rejection):
            [
                "rejected", number.map(String.init) ?? "-", order.map(String.init) ?? "-", rejection.code.rawValue,
                rejection.field,
            ]
            .compactMap(\.self).joined(separator: " ")
        }
    }
}
