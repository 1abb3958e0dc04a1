import DequeModule
public import StrokeWire

/// State machine of a teacher: decides what to send next.
///
/// It has no clock and no connection: methods take the time since the start. First sends keep to their times; messages
/// that the service reports missing go before them. Where a journal acknowledges messages, an overdue acknowledgement
/// stalls all others; after the stall every open message is resent in order under its old id. When the service is
/// silent, some unanswered operations are resent as probes, which show the service its gaps and bring its answers.
public struct TeacherSession: Sendable {
    /// An action for the caller.
    public enum Step: Sendable, Equatable {
        /// Publish this message, then call ``next(at:)`` again. The journal stores a repeated id once.
        case send([UInt8], messageID: String, Receipt)
        /// Wait until this time or the next event.
        case wait(until: Duration)
        /// Wait for the connection.
        case waitForConnection
        /// Stop: everything is sent and answered, a timeout has passed, or a newer session has ended this one.
        case finish
    }

    private let answerTimeout: Duration
    private let ids: MessageIDs
    private var plan: Deque<OutgoingMessage>
    private var rate = SendingRate()
    private var outbox: Outbox
    private var resends = ResendQueue()
    private var silence = SilenceTimer()
    /// Messages that may be unacknowledged, in order of first sending; acknowledged ones are removed lazily.
    private var inFlight: Deque<MessageKey> = []
    private var stall: Stall?
    private var isConnected = true
    private var counts = TeacherReport()
    /// When something was last sent for the first time, acknowledged or answered.
    private var lastNews = Duration.zero
    /// Whether the service has sent feedback, in this run or an earlier one.
    private var isServiceKnown = false
    /// Numbers of rejected operations, each counted once. Bounded by the plan.
    private var rejectedNumbers: Set<Int64> = []
    /// Numbers of strokes resent because the service gave them up, each once. Bounded by the plan.
    private var secondChances: Set<Int64> = []
    /// Numbers resent because a later one was applied, each once. Bounded by the plan.
    private var passedOver: Set<Int64> = []
    /// Records since the last ``takeRecords()``; nil where nobody takes them.
    private var records: [OutboxRecord]?

    /// - Parameters:
    ///   - session: id of this sequence of operation numbers.
    ///   - ids: makes the message ids.
    ///   - answerTimeout: how long to wait for answers when everything is sent and the service is silent.
    package init(
        _ plan: some Sequence<OutgoingMessage>, session: String, ids: MessageIDs, answerTimeout: Duration
    ) {
        self.init(plan, ids: ids, answerTimeout: answerTimeout, outbox: Outbox(session: session))
    }

    init(_ plan: some Sequence<OutgoingMessage>, ids: MessageIDs, answerTimeout: Duration, outbox: Outbox) {
        self.plan = Deque(plan)
        (self.ids, self.answerTimeout, self.outbox) = (ids, answerTimeout, outbox)
    }

    /// Value of the header `Ink-Session`.
    public var session: String { outbox.session }

    /// Statistics so far.
    public var report: TeacherReport {
        var report = counts
        report.unanswered = outbox.waiting.count
        report.unstored = outbox.waiting.count { $0.messages.contains { !$0.isStored } }
        report.unsent = plan.count
        report.isStalled = stall != nil
        report.isConnected = isConnected
        return report
    }

    /// The messages that were not sent yet, in sending order.
    package var unsent: some Sequence<OutgoingMessage> { plan }

    /// The next action.
    public mutating func next(at now: Duration) -> Step {
        guard counts.endedSession == nil else { return .finish }
        guard isConnected else { return .waitForConnection }
        watchForStall(at: now)
        if stall != nil { return probeStall(at: now) }
        probeIfSilent(at: now)
        if let key = resends.first(in: outbox) {
            guard rate.earliest <= now else { return .wait(until: rate.earliest) }
            resends.removeFirst()
            return resendNow(key, at: now)
        }
        if let step = sendFirst(at: now) { return step }
        if plan.isEmpty && outbox.waiting.isEmpty || now >= deadline { return .finish }
        return .wait(until: min(alarm, deadline))
    }

    /// First sending of the plan's next message; nil at the end of the plan or with a full outbox.
    private mutating func sendFirst(at now: Duration) -> Step? {
        while let message = plan.first, outbox.takes(message) {
            guard message.due <= now else { return .wait(until: min(message.due, alarm)) }
            guard message.isWithheld || rate.earliest <= now else { return .wait(until: rate.earliest) }
            plan.removeFirst()
            outbox.keep(message, at: now)
            records?.append(OutboxRecord(message))
            silence.restart(at: now, isJournalled: counts.isJournalled)
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

    private mutating func probeStall(at now: Duration) -> Step {
        guard let stall, now < deadline else { return .finish }
        let time = max(stall.nextProbe, rate.earliest)
        guard time <= now else { return .wait(until: min(time, deadline)) }
        let hasGap = hasGap
        self.stall?.probed(at: now, hasGap: hasGap)
        return resendNow(stall.key, at: now)
    }

    private mutating func resendNow(_ key: MessageKey, at now: Duration) -> Step {
        counts.resent += 1
        return send(key, at: now)
    }

    private mutating func send(_ key: MessageKey, at now: Duration) -> Step {
        let isNew = outbox[key].map { $0.sentAt == nil || $0.isAcknowledged } ?? false
        if isNew { inFlight.append(key) }
        outbox.send(key, at: now)
        guard let message = outbox[key] else { return .wait(until: now) }
        rate.take(bytes: message.bytes.count, at: now)
        let receipt = Receipt(key: key, generation: message.generation)
        return .send(message.bytes, messageID: ids.id(receipt), receipt)
    }

    /// When to call ``next(at:)`` again, unless an event comes first.
    private var alarm: Duration {
        outbox.waiting.isEmpty ? .seconds(1 << 40) : min(silence.deadline, acknowledgementDue ?? silence.deadline)
    }
}

extension TeacherSession {
    /// Feedback for the author arrived. Feedback on another session is ignored; older services name no session.
    public mutating func receive(_ message: FeedbackMessage, at now: Duration) {
        if message.session == nil || message.session == session { receive(message.feedback, at: now) }
    }

    /// Feedback on the session arrived.
    public mutating func receive(_ feedback: Feedback, at now: Duration) {
        silence.restart(at: now, isJournalled: counts.isJournalled)
        lastNews = now
        isServiceKnown = true
        // Without a journal, feedback is the only sign that messages get through again.
        if stall != nil, !counts.isJournalled { endStall() }
        switch feedback {
        case .applied(let number, let index):
            counts.lastIndex = max(counts.lastIndex, index)
            if settle(number, .applied(index: index)) { counts.applied += 1 }
            resend(below: number)
        case .missingShards(let number, let orders):
            counts.missing += 1
            let asked = Set(orders)
            resend(number, isWanted: true) { asked.contains($0.order) }
        case .missingRange(let from, let to):
            counts.missing += 1
            _ = outbox.giveAgain { from <= $0.key.number && $0.key.number <= to }
            for number in numbers(from, to) { resend(number, isWanted: true) }
        case .gaveUp(let from, let to):
            for number in numbers(from, to) { gaveUp(number) }
        case .rejected(let number, _, let rejection):
            rejected(number, rejection)
        case .behindLive(_, let milliseconds):
            counts.behindLive = max(counts.behindLive, milliseconds)
        case .covered(let number, let incarnation):
            records?.append(.covered(number: number, incarnation: incarnation))
            for key in outbox.cover(number, in: incarnation) { resend(key.number, isWanted: true) }
        }
    }

    /// The numbers of unsettled operations in a range.
    private func numbers(_ from: Int64, _ to: Int64) -> [Int64] {
        outbox.waiting.between(outbox.key(from), outbox.key(to)).map { $0.key.number }
    }

    /// Resends unanswered operations below an applied one. A room applies in order, so these are lost first operations
    /// of a session, which it does not report missing; it accepts them for two seconds from the start of the session.
    private mutating func resend(below number: Int64) {
        for open in numbers(.min, number) where passedOver.insert(open).inserted { resend(open, isWanted: true) }
    }

    /// Feedback arrived that cannot be decoded.
    public mutating func receiveMalformedFeedback() { counts.malformedFeedback += 1 }

    /// Sets the number of dropped feedback messages.
    public mutating func feedbackDropped(_ count: Int) { counts.droppedFeedback = count }

    /// Resends a given-up stroke once, as the service accepts late strokes.
    private mutating func gaveUp(_ number: Int64) {
        if outbox[number]?.header?.action == .draw, secondChances.insert(number).inserted {
            resend(number, isWanted: true)
        } else if settle(number, .gaveUp) {
            counts.gaveUp += 1
        }
    }

    private mutating func rejected(_ number: Int64?, _ rejection: Rejection) {
        guard rejection.code != .sessionOver else {
            counts.endedSession = session
            return
        }
        if let number, rejection.settlesNumber {
            _ = settle(number, .rejected(rejection.code))
            guard rejectedNumbers.insert(number).inserted else { return }
        }
        counts.count(rejection, of: number)
    }

    /// - Returns: whether the operation was unsettled.
    private mutating func settle(_ number: Int64, _ outcome: OutboxRecord.Outcome) -> Bool {
        guard let operation = outbox.settle(number, outcome) else { return false }
        records?.append(.settled(number: number, outcome))
        // It was counted before.
        guard !operation.wasApplied else { return false }
        // An answered message is stored, even if its acknowledgement is lost.
        if counts.isJournalled { counts.stored += operation.messages.count { !$0.isStored } }
        return true
    }
}

extension Rejection {
    /// Whether the rejection of one message settles its whole operation.
    fileprivate var settlesNumber: Bool {
        !(code == .shardConflict || code == .outOfRange && field == "n")
    }
}

extension TeacherSession {
    /// How long an acknowledgement may take, which bounds the messages in flight.
    private static let acknowledgementTimeout = Duration.seconds(1)
    /// How long a stall may last after earlier success: a cluster takes 8 s to elect a leader.
    private static let maximumStall = Duration.seconds(60)

    /// A publish reply arrived.
    public mutating func receive(_ reply: PublishReply, _ receipt: Receipt, at now: Duration) {
        switch reply {
        case .stored:
            counts.isJournalled = true
            counts.refusal = nil
            lastNews = now
            guard outbox.acknowledge(receipt) else { return }
            counts.stored += 1
            records?.append(.stored(number: receipt.key.number, order: receipt.key.order))
        case .refused(let why):
            counts.isJournalled = true
            counts.refusal = why
            counts.refusals += 1
            beginStall(because: receipt, at: now)
        case .idTaken:
            counts.isJournalled = true
            beginStall(because: receipt, at: now)
            // A room drops what it has: under another id the message is stored at worst twice.
            outbox.changeID(receipt)
        case .noResponders:
            beginStall(because: receipt, at: now)
        }
    }

    /// When the oldest acknowledgement is overdue; nil without a journal.
    private var acknowledgementDue: Duration? {
        guard counts.isJournalled, resends.isEmpty, let key = inFlight.first else { return nil }
        return outbox[key]?.sentAt.map { $0 + Self.acknowledgementTimeout }
    }

    /// When to stop waiting.
    private var deadline: Duration {
        let isOpen = stall != nil || counts.isJournalled && !inFlight.isEmpty
        let wasHeard = counts.isJournalled || isServiceKnown
        return lastNews + (isOpen && wasHeard ? max(answerTimeout, Self.maximumStall) : answerTimeout)
    }

    /// Detects the start and the end of a stall.
    private mutating func watchForStall(at now: Duration) {
        while let key = inFlight.first, outbox[key]?.isAcknowledged ?? true { inFlight.removeFirst() }
        if let stall, stall.key != inFlight.first {
            endStall()
        } else if stall == nil, let key = inFlight.first, let due = acknowledgementDue, due <= now {
            stall = Stall(key, at: now, delay: .zero)
        }
    }

    /// Whether the journal has stored a message sent after the oldest open one.
    private var hasGap: Bool { inFlight.dropFirst().contains { outbox[$0]?.isStored ?? true } }

    /// Ends a stall, and resends all open messages in order.
    private mutating func endStall() {
        stall = nil
        for key in inFlight { resends.add(key, isWanted: false) }
    }

    private mutating func beginStall(because receipt: Receipt, at now: Duration) {
        let isOpen = outbox[receipt.key].map { !$0.isAcknowledged && $0.generation == receipt.generation } ?? false
        guard stall == nil, isOpen, let key = inFlight.first else { return }
        stall = Stall(key, at: now, delay: .milliseconds(250))
    }
}

extension TeacherSession {
    /// Number of operations resent by a probe: the newest, which shows the service all gaps before it, and the oldest,
    /// whose answers may be lost.
    private static let operationsProbed = 32

    /// The connection is lost, maybe with the last messages and replies.
    public mutating func connectionLost() { isConnected = false }

    /// The connection is back: resends all unacknowledged messages in order.
    public mutating func connectionReturned(at now: Duration) {
        guard !isConnected else { return }
        isConnected = true
        stall = nil
        lastNews = now
        counts.reconnects += 1
        silence.restart(at: now, isJournalled: counts.isJournalled)
        for operation in outbox.waiting { resend(operation, isWanted: false) { !$0.isAcknowledged } }
    }

    private mutating func probeIfSilent(at now: Duration) {
        guard now >= silence.deadline else { return }
        silence.backOff(at: now)
        guard resends.isEmpty else { return }
        // Not messages that wait for the journal, nor stored ones where no service has ever answered.
        let isWorthProbing = { [isJournalled = counts.isJournalled, isServiceKnown] (message: Outbox.Message) in
            !isJournalled || message.sentAt == nil && !message.isStored || message.isAcknowledged && isServiceKnown
        }
        let oldest = Array(outbox.waiting.prefix(Self.operationsProbed - 1))
        for operation in oldest + outbox.waiting.dropFirst(oldest.count).suffix(1) {
            resend(operation, isWanted: true, where: isWorthProbing)
        }
    }

    private mutating func resend(
        _ number: Int64, isWanted: Bool, where isMeant: (Outbox.Message) -> Bool = { _ in true }
    ) {
        if let operation = outbox[number] { resend(operation, isWanted: isWanted, where: isMeant) }
    }

    private mutating func resend(
        _ operation: Outbox.Operation, isWanted: Bool, where isMeant: (Outbox.Message) -> Bool
    ) {
        for message in operation.messages where isMeant(message) {
            resends.add(MessageKey(number: operation.key.number, order: message.order), isWanted: isWanted)
        }
    }
}

extension TeacherSession {
    /// Restores the state of earlier runs, with unsettled messages in the order of their numbers.
    package mutating func resume(_ history: OutboxHistory) {
        records = []
        counts.resume(history)
        isServiceKnown = !history.outcomes.isEmpty
        for (number, outcome) in history.outcomes {
            if case .rejected = outcome { rejectedNumbers.insert(number) }
        }
        outbox = history.outbox
        for operation in outbox.waiting { resend(operation, isWanted: false) { !$0.isAcknowledged } }
    }

    /// Keeps records from now on, for ``takeRecords()``.
    package mutating func keepRecords() { records = records ?? [] }

    /// Returns the records since the last call; write them before sending.
    package mutating func takeRecords() -> [OutboxRecord] {
        guard let taken = records, !taken.isEmpty else { return [] }
        records = []
        return taken
    }
}
