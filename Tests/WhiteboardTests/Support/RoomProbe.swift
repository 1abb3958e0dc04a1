import StrokeWire
import Testing
import Whiteboard

/// A room in virtual time, driven as the server drives it: it advances when it asks to and at no other time, and its
/// decisions come back from a journal.
struct RoomProbe {
    struct Told {
        let author: AuthorID
        let feedback: Feedback
        let at: Instant
    }

    struct Shown {
        let cohort: CohortName
        let operation: Whiteboard.Operation
        let isLate: Bool
        let at: Instant
    }

    private(set) var room: Room
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    /// After how long each copy of a decision comes back from the journal.
    var decisionsReturn: [Duration] = [.zero]

    var told: [Told] = []
    private(set) var applied: [Whiteboard.Operation] = []
    private(set) var shown: [Shown] = []
    private(set) var marks: [(cohort: CohortName, mark: Mark, at: Instant)] = []
    private(set) var decisions: [ControlRecord] = []
    private var effects = RoomEffects()
    private var returning: [(record: ControlRecord, at: Instant)] = []

    init(_ configuration: RoomConfiguration = RoomConfiguration()) {
        room = Room(configuration: configuration, at: now)
    }

    var counts: RoomCounts { effects.counts }

    /// A message comes in.
    mutating func send(_ text: String, by author: AuthorID = .alice, session: String? = nil) {
        send(Array(text.utf8), by: author, session: session)
    }

    mutating func send(_ bytes: [UInt8], by author: AuthorID = .alice, session: String? = nil) {
        let message = IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: now)
        room.receive(message, incarnation: { "life" }, at: now, into: &effects)
        settle()
    }

    /// A sample of a cohort's clock comes in.
    mutating func clock(_ milliseconds: Double, _ cohort: CohortName = .main, _ more: String = "") {
        receiveClock(Array(#"{"m":\#(milliseconds)\#(more)}"#.utf8), cohort)
    }

    mutating func receiveClock(_ bytes: [UInt8], _ cohort: CohortName = .main) {
        room.receive(clockSample: bytes, cohort: cohort, at: now, into: &effects)
        settle()
    }

    /// A record stands in the journal that this room did not ask for.
    mutating func record(_ record: ControlRecord) {
        room.receive(record, loggedAt: now, at: now, into: &effects)
        settle()
    }

    mutating func setOutput(isOpen: Bool) {
        room.setOutput(isOpen: isOpen)
        settle()
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
            room.receive(returning.remove(at: position).record, loggedAt: now, at: now, into: &effects)
        }
    }

    private mutating func settle() {
        room.advance(to: now, into: &effects)
        var next = 0
        while next < effects.list.count {
            perform(effects.list[next])
            next += 1
        }
        effects.list.removeAll(keepingCapacity: true)
    }

    private mutating func perform(_ effect: RoomEffect) {
        switch effect {
        case .feedback(let author, let feedback): told.append(Told(author: author, feedback: feedback, at: now))
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
                room.receive(record, loggedAt: now, at: now, into: &effects)
                room.advance(to: now, into: &effects)
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
