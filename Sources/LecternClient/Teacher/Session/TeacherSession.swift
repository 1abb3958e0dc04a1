import DequeModule
internal import StrokeWire

/// Decides what a teacher sends next. No clock, no connection: time is passed in, measured from the start.
///
/// First sends keep to their times. What the service reports missing goes before them. Where a journal acknowledges
/// messages, one that is not acknowledged in time stops the others until it is: then all that are open go out again in
/// their order, under their old ids. What the service never answers is asked about after a silence: some of it is sent
/// again, which shows the service every gap, and us its answer.
public struct TeacherSession: Sendable {
    /// What to do next.
    public enum Step: Sendable, Equatable {
        /// Publish this, then ask for the next step. What is published again under the same id is stored once.
        case send(OutgoingMessage, messageID: String, Receipt)
        /// Nothing before this time, unless something happens.
        case wait(until: Duration)
        /// Nothing until the connection is back.
        case waitForConnection
        /// All is sent, and answered or waited for long enough; or nothing gets through for long enough.
        case finish
    }

    /// Value of the header `Ink-Session`.
    public let session: String
    let patience: Duration
    private let ids: MessageIDs
    private var plan: Deque<OutgoingMessage>
    private var rate = SendingRate()
    var outbox: Outbox
    var resends = ResendQueue()
    var silence = Silence()
    /// What was sent and may be on its way, in the order of first sending; settled ones leave it late.
    var inFlight: Deque<MessageKey> = []
    var stall: Stall?
    var isConnected = true
    var counts = TeacherReport()
    /// When something was last heard of the messages.
    var lastNews = Duration.zero
    /// Whether the service has said anything, also to a run before this one.
    var isServiceKnown = false
    /// Numbers of rejected operations, so that none counts twice. No more than the plan has.
    var rejectedNumbers: Set<Int64> = []
    /// Numbers that were sent again because a later one was applied: once each. No more than the plan has.
    var passedOver: Set<Int64> = []
    /// What happened since ``takeRecords()``; nil where nobody writes it down.
    var records: [OutboxRecord]?

    /// - Parameters:
    ///   - session: names this count of operations; a new one for each count.
    ///   - ids: names its messages.
    ///   - patience: how long to wait for answers once the service is silent and all is sent.
    init(
        _ plan: some Sequence<OutgoingMessage>, session: String, ids: MessageIDs, patience: Duration,
        outbox: Outbox = Outbox()
    ) {
        self.plan = Deque(plan)
        self.session = session
        self.ids = ids
        self.patience = patience
        self.outbox = outbox
    }

    /// What became of the operations so far.
    public var report: TeacherReport {
        var report = counts
        report.unanswered = outbox.operations.count
        report.unstored = outbox.operations.values.count { !$0.isStored }
        report.unsent = plan.count
        report.isStalled = stall != nil
        report.isConnected = isConnected
        return report
    }

    /// What to do now.
    public mutating func next(at now: Duration) -> Step {
        guard isConnected else { return .waitForConnection }
        watchForStall(at: now)
        if stall != nil { return probe(at: now) }
        askIfSilent(at: now)
        if let message = resends.first(in: outbox) {
            guard rate.earliest <= now else { return .wait(until: rate.earliest) }
            resends.removeFirst()
            return sendAgain(message.key, at: now)
        }
        if let step = sendFirst(at: now) { return step }
        if plan.isEmpty && outbox.isEmpty || now >= end { return .finish }
        return .wait(until: min(alarm, end))
    }

    /// The next message of the plan, if there is one that may go out.
    private mutating func sendFirst(at now: Duration) -> Step? {
        while let message = plan.first, outbox.hasRoom(for: message) {
            guard message.due <= now else { return .wait(until: min(message.due, alarm)) }
            guard message.isWithheld || rate.earliest <= now else { return .wait(until: rate.earliest) }
            plan.removeFirst()
            outbox.keep(message)
            records?.append(OutboxRecord(message))
            silence.end(at: now, isJournalled: counts.isJournalled)
            lastNews = now
            if message.isWithheld {
                counts.withheld += 1
            } else {
                counts.published += 1
                return send(message.key, at: now)
            }
        }
        return nil
    }

    private mutating func probe(at now: Duration) -> Step {
        guard let stall, now < end else { return .finish }
        let time = max(stall.nextProbe, rate.earliest)
        guard time <= now else { return .wait(until: min(time, end)) }
        self.stall?.probed(at: now)
        return sendAgain(stall.key, at: now)
    }

    private mutating func sendAgain(_ key: MessageKey, at now: Duration) -> Step {
        counts.resent += 1
        return send(key, at: now)
    }

    private mutating func send(_ key: MessageKey, at now: Duration) -> Step {
        let isNew = outbox[key].map { $0.sentAt == nil || $0.isAcknowledged } ?? false
        if isNew { inFlight.append(key) }
        outbox.send(key, at: now)
        guard let entry = outbox[key] else { return .wait(until: now) }
        rate.take(bytes: entry.message.bytes.count, at: now)
        let receipt = Receipt(key: key, generation: entry.generation)
        return .send(entry.message, messageID: ids.id(receipt), receipt)
    }

    /// When something is to be looked at again, if nothing happens.
    private var alarm: Duration {
        outbox.isEmpty ? .seconds(1 << 40) : min(silence.nextQuestion, acknowledgementDue ?? silence.nextQuestion)
    }
}
