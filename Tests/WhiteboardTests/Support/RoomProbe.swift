import StrokeWire
import Testing

@testable import Whiteboard

/// A room in virtual time, driven as the server drives it: it advances when it asks to and at no other time, and its
/// decisions come back from a journal.
struct RoomProbe {
    struct Told {
        let author: AuthorID
        let feedback: Feedback
        let at: Instant
        /// Whether it was the passing of time that it came of, not an input.
        let isReminder: Bool
    }

    struct Shown {
        let cohort: CohortName
        let operation: Whiteboard.Operation
        let isLate: Bool
        let at: Instant
    }

    private(set) var room: Room
    private(set) var now: Instant
    /// How far the log's time is ahead.
    let logAhead: Duration
    /// All that the room was given, by the log's time.
    private(set) var inputs: [(at: Instant, input: RoomInput)] = []
    /// After how long each copy of a decision comes back from the journal.
    var decisionsReturn: [Duration] = [.zero]

    var told: [Told] = []
    private(set) var applied: [Whiteboard.Operation] = []
    private(set) var shown: [Shown] = []
    private(set) var marks: [(cohort: CohortName, mark: Mark, at: Instant)] = []
    private(set) var decisions: [ControlRecord] = []
    private var effects = RoomEffects()
    /// Places of the effects that came of the passing of time.
    private var reminders: [Range<Int>] = []
    private var returning: [(record: ControlRecord, at: Instant)] = []

    init(_ configuration: RoomConfiguration = RoomConfiguration()) {
        let start = Instant(nanoseconds: 1_000_000_000_000)
        self.init(Room(configuration: configuration, at: start), at: start, logAhead: .zero)
    }

    init(_ room: Room, at now: Instant, logAhead: Duration) {
        self.room = room
        self.now = now
        self.logAhead = logAhead
    }

    var logTime: Instant { now + logAhead }

    var counts: RoomCounts { effects.counts }

    /// A message comes in.
    mutating func send(_ text: String, by author: AuthorID = .alice, session: String? = nil) {
        send(Array(text.utf8), by: author, session: session)
    }

    mutating func send(_ bytes: [UInt8], by author: AuthorID = .alice, session: String? = nil) {
        take(.message(author, session: session, bytes))
    }

    /// A sample of a cohort's clock comes in.
    mutating func clock(_ milliseconds: Double, _ cohort: CohortName = .main, _ more: String = "") {
        receiveClock(Array(#"{"m":\#(milliseconds)\#(more)}"#.utf8), cohort)
    }

    mutating func receiveClock(_ bytes: [UInt8], _ cohort: CohortName = .main) {
        take(.sample(bytes, cohort))
    }

    /// A record stands in the journal that this room did not ask for.
    mutating func record(_ record: ControlRecord) {
        take(.record(record))
    }

    mutating func setOutput(isOpen: Bool) {
        take(.output(isOpen: isOpen))
    }

    /// An input comes in, and the room does what is due.
    mutating func take(_ input: RoomInput) {
        feed(input)
        settle()
    }

    /// An input comes in while the room must not advance: nothing that it says reaches anybody.
    mutating func recover(_ input: RoomInput, loggedAt: Instant) {
        input.feed(&room, loggedAt: loggedAt, at: now, into: &effects)
        effects.removeAll()
    }

    mutating func restoreCursors(_ cursors: [CohortName: UInt64]) {
        room.restoreCursors(cursors, at: now)
        settle()
    }

    private mutating func feed(_ input: RoomInput) {
        inputs.append((logTime, input))
        input.feed(&room, loggedAt: logTime, at: now, into: &effects)
    }

    /// Time passes.
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

    /// What an author was told since the last call.
    mutating func takeTold(_ author: AuthorID = .alice) -> [String] {
        defer { told.removeAll { $0.author == author } }
        return told.filter { $0.author == author }.map(\.feedback.summary)
    }

    /// The visible strokes at the head, bottom to top.
    var visible: [UInt64] { room.head.visible.map(\.stroke.index) }

    /// The indices released to a cohort, in the order in which they were.
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
        case .feedback(let author, let feedback):
            told.append(Told(author: author, feedback: feedback, at: now, isReminder: isReminder))
        case .head(let operation): applied.append(operation)
        case .release(let cohort, let operation, let isLate, _):
            shown.append(Shown(cohort: cohort, operation: operation, isLate: isLate, at: now))
        case .mark(let cohort, let mark): marks.append((cohort, mark, now))
        case .record(let record):
            decisions.append(record)
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

extension AuthorID {
    static let alice = known("alice")
    static let bob = known("bob")

    static func known(_ name: String) -> AuthorID {
        guard let author = AuthorID(name) else { preconditionFailure("\(name) is no author's name") }
        return author
    }
}

extension Whiteboard.Operation {
    /// What happened, in a line that a test can compare.
    var summary: String {
        let late = isLate ? " late" : ""
        let reference = reference.map { " \($0)" } ?? ""
        return "\(index) \(author.text) \(number) \(action)\(reference)\(late)"
    }
}
