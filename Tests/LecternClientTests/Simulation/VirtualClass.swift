// Teachers and students in virtual time. The network between them and the model of the service loses, repeats and delays
// messages by seed.

import StrokeWire

@testable import ClientCore
@testable import LecternClient

/// A teacher and the model of the service with a network between them, in virtual time.
struct VirtualClass {
    private enum Event {
        case message([UInt8], messageID: String, Receipt)
        case feedback(Feedback)
        case answer(PublishReply, Receipt)
    }

    struct Sending {
        let bytes: [UInt8]
        let messageID: String
        let time: Duration
    }

    var session: TeacherSession
    var service = VirtualService()
    private(set) var sendings: [Sending] = []
    private(set) var now = Duration.zero
    /// Start of the session's time.
    private var origin = Duration.zero
    /// Step of virtual time.
    var step = Duration.milliseconds(1)
    private var inFlight: [(time: Duration, event: Event)] = []
    private var random: SeededGenerator
    /// Share of messages and feedback that the network loses.
    var loss = 0.0
    /// Latency in milliseconds; a range lets messages overtake each other.
    var latency = 1...30
    /// Whether there is a service.
    var hasService = true
    /// The journal between the network and the service, if there is one.
    var journal: VirtualJournal?
    /// Times without a connection; messages in flight are lost.
    var outages: [(start: Duration, length: Duration)] = []

    init(_ plan: PublishPlan, seed: UInt64, answerTimeout: Duration = .seconds(10)) {
        session = TeacherSession(plan, session: "s", answerTimeout: answerTimeout)
        random = SeededGenerator(seed: seed)
    }

    /// Replaces the teacher's process. Sent messages arrive, answers to the old process do not.
    mutating func replaceTeacher(by session: TeacherSession) {
        self.session = session
        origin = now
        inFlight.removeAll { if case .message = $0.event { false } else { true } }
    }

    /// Runs until the teacher finishes.
    /// - Parameter write: called with the teacher's records before they are acted upon.
    /// - Returns: whether it finished within the limit.
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
                case .send(let bytes, let messageID, let receipt):
                    sendings.append(Sending(bytes: bytes, messageID: messageID, time: now))
                    post(.message(bytes, messageID: messageID, receipt))
                case .wait, .waitForConnection: break sending
                case .finish: return true
                }
            }
            now += step
        }
        return false
    }

    private var isConnected: Bool { !outages.contains { $0.start <= now && now < $0.start + $0.length } }

    /// The longest part of a time in which the journal could be reached and stored messages.
    func longestUndisturbed(from start: Duration, to end: Duration) -> Duration {
        var longest = Duration.zero
        var free = start
        for outage in (outages + (journal?.outages ?? [])).sorted(by: { $0.start < $1.start }) {
            longest = max(longest, min(outage.start, end) - free)
            free = max(free, outage.start + outage.length)
        }
        return max(longest, end - free)
    }

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
            case .message(let bytes, let messageID, let receipt):
                if let answer = journal?.receive(receipt.key.number, messageID: messageID, at: now) {
                    post(.answer(answer.answer, receipt))
                    guard answer.isNew else { continue }
                } else if journal != nil {
                    continue
                }
                guard hasService else { continue }
                for feedback in service.receive(bytes, at: now) { post(.feedback(feedback)) }
            case .answer(let answer, let receipt): session.receive(answer, receipt, at: now - origin)
            case .feedback(let feedback): session.receive(feedback, at: now - origin)
            }
        }
    }
}

extension TeacherSession {
    /// A session of the author `a` in the room `r`.
    init(_ plan: PublishPlan, session: String, answerTimeout: Duration) {
        self.init(
            plan.messages, session: session,
            ids: MessageIDs(room: "r", author: "a", session: session, run: "run"), answerTimeout: answerTimeout)
    }
}

/// A model of the service's side for one author, in virtual time: applies operations in order, reports each gap at once
/// and all of them every 500 ms, gives a gap up 2 s after the first operation behind it was complete.
struct VirtualService {
    /// Most notices of one report.
    private static let mostNotices = 64

    private(set) var applied: [Int64] = []
    /// Numbers that were given up, also those that were applied late.
    private(set) var givenUp: Set<Int64> = []
    private var arrived: [Int64: (orders: Set<Int>, count: Int, completed: Duration?)] = [:]
    private var settled: [Int64: Feedback] = [:]
    private var next: Int64 = 1
    private var nextReport: Duration?
    /// The greatest number that has arrived.
    private var farthest: Int64 = 0
    var rejects: Set<Int64> = []

    /// A message arrives.
    mutating func receive(_ message: [UInt8], at now: Duration) -> [Feedback] {
        guard let header = try? StrokeMessage(decoding: message) else { return [] }
        let number = header.number
        if let answer = settled[number], case .applied = answer { return [answer] }
        if rejects.contains(number) {
            settled[number] = .rejected(
                number: number, order: nil, Rejection(code: .nothingToUndo, message: "There is nothing to undo."))
            return [settled[number]].compactMap { $0 } + proceed(at: now)
        }
        var operation = arrived[number] ?? ([], max(1, header.shardCount), nil)
        operation.orders.insert(header.shardOrder)
        if operation.orders.count == operation.count, operation.completed == nil { operation.completed = now }
        arrived[number] = operation
        if number < next {
            // It was given up and arrives late.
            guard operation.completed != nil else { return [] }
            return [apply(number)]
        }
        var feedback = proceed(at: now)
        if number > farthest + 1 { feedback.append(.missingRange(from: farthest + 1, to: number - 1)) }
        farthest = max(farthest, number)
        if isWaiting, nextReport == nil { nextReport = now + .milliseconds(500) }
        return feedback
    }

    /// Handles timeouts.
    mutating func wake(at now: Duration) -> [Feedback] {
        var feedback: [Feedback] = []
        let first = arrived.filter { $0.key > next && $0.value.completed != nil }.values.compactMap(\.completed).min()
        if let first, now >= first + .seconds(2) {
            feedback.append(.gaveUp(from: next, to: next))
            givenUp.insert(next)
            settled[next] = feedback.last
            feedback += proceed(at: now)
        }
        if let time = nextReport, now >= time {
            nextReport = isWaiting ? now + .milliseconds(500) : nil
            feedback += isWaiting ? report() : []
        }
        return feedback
    }

    private var isWaiting: Bool { arrived.contains { $0.key >= next } }

    /// The absent numbers and shards before the last number that has arrived, lowest first.
    private func report() -> [Feedback] {
        var notices: [Feedback] = []
        var expected = next
        for (number, operation) in arrived.sorted(by: { $0.key < $1.key }) where number >= next {
            if expected < number { notices.append(.missingRange(from: expected, to: number - 1)) }
            expected = number + 1
            let missing = (0..<operation.count).filter { !operation.orders.contains($0) }
            if !missing.isEmpty { notices.append(.missingShards(number: number, orders: missing)) }
        }
        return Array(notices.prefix(Self.mostNotices))
    }

    private mutating func proceed(at now: Duration) -> [Feedback] {
        var feedback: [Feedback] = []
        while true {
            if settled[next] == nil, let operation = arrived[next], operation.completed != nil {
                feedback.append(apply(next))
            }
            guard settled[next] != nil else { return feedback }
            next += 1
        }
    }

    private mutating func apply(_ number: Int64) -> Feedback {
        applied.append(number)
        let answer = Feedback.applied(number: number, index: UInt64(applied.count))
        settled[number] = answer
        return answer
    }
}

/// A model of a stream in virtual time: stores new ids, acknowledges, and has outages.
struct VirtualJournal {
    private(set) var stored: [(number: Int64, messageID: String, time: Duration)] = []
    private var ids: Set<String> = []
    /// Times without a leader: nothing is stored or answered.
    var leaderless: [(start: Duration, length: Duration)] = []
    /// Times with a full stream.
    var full: [(start: Duration, length: Duration)] = []
    /// Times without a stream.
    var absent: [(start: Duration, length: Duration)] = []

    /// Times in which it stores nothing.
    var outages: [(start: Duration, length: Duration)] { leaderless + full + absent }

    /// - Returns: the answer, and whether the message was stored; nil for silence.
    mutating func receive(
        _ number: Int64, messageID: String, at now: Duration
    ) -> (answer: PublishReply, isNew: Bool)? {
        if Self.contains(absent, now) { return (.noResponders, false) }
        if Self.contains(leaderless, now) { return nil }
        if ids.contains(messageID) { return (.stored, false) }
        if Self.contains(full, now) { return (.refused("maximum bytes exceeded"), false) }
        ids.insert(messageID)
        stored.append((number, messageID, now))
        return (.stored, true)
    }

    private static func contains(_ spans: [(start: Duration, length: Duration)], _ now: Duration) -> Bool {
        spans.contains { $0.start <= now && now < $0.start + $0.length }
    }
}
