import StrokeWire

@testable import LecternClient

/// A teacher and the model of the service with a network between them, in virtual time.
struct VirtualClass {
    private enum Event {
        case message(OutgoingMessage, messageID: String, Receipt)
        case feedback(Feedback)
        case answer(PublishAnswer, Receipt)
    }

    struct Sending {
        let message: OutgoingMessage
        let messageID: String
        let time: Duration
    }

    var session: TeacherSession
    var service = VirtualService()
    private(set) var sendings: [Sending] = []
    private(set) var now = Duration.zero
    /// When the session began: it measures time from there.
    private var origin = Duration.zero
    /// How exactly time is kept.
    var step = Duration.milliseconds(1)
    private var inFlight: [(time: Duration, event: Event)] = []
    private var random: SeededGenerator
    /// Share of messages and of feedback that the network loses.
    var loss = 0.0
    /// How long a message takes, in milliseconds; with a range, messages overtake each other.
    var latency = 1...30
    /// Whether the service is there at all.
    var hasService = true
    /// The journal between the network and the service, if there is one.
    var journal: VirtualJournal?
    /// When the connection is lost, and for how long; what is in flight then is lost too.
    var outages: [(start: Duration, length: Duration)] = []

    init(_ plan: PublishPlan, seed: UInt64, patience: Duration = .seconds(10)) {
        session = TeacherSession(plan, session: "s", patience: patience)
        random = SeededGenerator(seed: seed)
    }

    /// The teacher's process ends, and another one takes its place. What it sent arrives, answers to it do not.
    mutating func replaceTeacher(by session: TeacherSession) {
        self.session = session
        origin = now
        inFlight.removeAll { if case .message = $0.event { false } else { true } }
    }

    /// Runs until the teacher finishes.
    /// - Parameter write: gets what the teacher writes down before it goes on.
    /// - Returns: whether that came within the limit.
    mutating func run(within limit: Duration, write: ([OutboxRecord], VirtualClass) -> Void = { _, _ in }) -> Bool {
        while now < origin + limit {
            setConnection()
            if hasService, Int((now / step).rounded()).isMultiple(of: 50) {
                for feedback in service.wake(at: now) { post(.feedback(feedback)) }
            }
            deliver()
            sending: while true {
                let next = session.next(at: now - origin)
                let records = session.takeRecords()
                if !records.isEmpty { write(records, self) }
                switch next {
                case .send(let message, let messageID, let receipt):
                    sendings.append(Sending(message: message, messageID: messageID, time: now))
                    post(.message(message, messageID: messageID, receipt))
                case .wait, .waitForConnection: break sending
                case .finish: return true
                }
            }
            now += step
        }
        return false
    }

    private var isConnected: Bool { !outages.contains { $0.start <= now && now < $0.start + $0.length } }

    private mutating func setConnection() {
        if isConnected {
            session.connectionReturned(at: now - origin)
        } else {
            session.connectionLost()
            inFlight = []
        }
    }

    private mutating func post(_ event: Event) {
        guard isConnected, random.unit() >= loss else { return }
        inFlight.append((now + .milliseconds(Int.random(in: latency, using: &random)), event))
    }

    private mutating func deliver() {
        let due = inFlight.filter { $0.time <= now }
        inFlight.removeAll { $0.time <= now }
        for (_, event) in due.sorted(by: { $0.time < $1.time }) {
            switch event {
            case .message(let message, let messageID, let receipt):
                if let answer = journal?.receive(message, messageID: messageID, at: now) {
                    post(.answer(answer.answer, receipt))
                    guard answer.isNew else { continue }
                } else if journal != nil {
                    continue
                }
                guard hasService else { continue }
                for feedback in service.receive(message, at: now) { post(.feedback(feedback)) }
            case .answer(let answer, let receipt):
                session.receive(answer, receipt, at: now - origin)
            case .feedback(let feedback):
                session.receive(feedback, at: now - origin)
            }
        }
    }
}
