import StrokeWire

@testable import LecternClient

/// A teacher and the model of the service with a network between them, in virtual time.
struct VirtualClass {
    private enum Event {
        case message(OutgoingMessage)
        case feedback(Feedback)
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
    private var inFlight: [(time: Duration, event: Event)] = []
    private var random: SeededGenerator
    /// Share of messages and of feedback that the network loses.
    var loss = 0.0
    /// How long a message takes, in milliseconds; with a range, messages overtake each other.
    var latency = 1...30
    /// Whether the service is there at all.
    var hasService = true
    /// When the connection is lost, and for how long; what is in flight then is lost too.
    var outages: [(start: Duration, length: Duration)] = []

    init(_ plan: PublishPlan, seed: UInt64, patience: Duration = .seconds(10)) {
        session = TeacherSession(plan, session: "s", patience: patience)
        random = SeededGenerator(seed: seed)
    }

    /// Runs until the teacher finishes.
    /// - Returns: whether that came within the limit.
    mutating func run(within limit: Duration) -> Bool {
        let step = Duration.milliseconds(1)
        while now < limit {
            setConnection()
            if hasService, Int((now / step).rounded()).isMultiple(of: 50) {
                for feedback in service.wake(at: now) { post(.feedback(feedback)) }
            }
            deliver()
            sending: while true {
                switch session.next(at: now) {
                case .send(let message, let messageID):
                    sendings.append(Sending(message: message, messageID: messageID, time: now))
                    post(.message(message))
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
            session.connectionReturned(at: now)
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
            case .message(let message):
                guard hasService else { continue }
                for feedback in service.receive(message, at: now) { post(.feedback(feedback)) }
            case .feedback(let feedback):
                session.receive(feedback, at: now)
            }
        }
    }
}
