import DequeModule

/// Decides what a teacher sends next. No clock, no connection: time is passed in, measured from the start.
///
/// First sends keep to their times. What the service reports missing goes before them. What it never answers is asked
/// about: after a silence some of it is sent again, which shows the service every gap, and us its answer.
public struct TeacherSession: Sendable {
    /// What to do next.
    public enum Step: Sendable, Equatable {
        /// Publish this, then ask for the next step.
        case send(OutgoingMessage, messageID: String)
        /// Nothing before this time, unless something happens.
        case wait(until: Duration)
        /// Nothing until the connection is back.
        case waitForConnection
        /// All is sent, and answered or waited for long enough.
        case finish
    }

    /// Value of the header `Ink-Session`.
    public let session: String
    let patience: Duration
    private var plan: Deque<OutgoingMessage>
    private var rate = SendingRate()
    var outbox = Outbox()
    var resends = ResendQueue()
    var silence = Silence()
    /// How often operations were sent again under message ids of their own.
    var attempts = 0
    var isConnected = true
    var counts = TeacherReport()
    /// Numbers of rejected operations, so that none counts twice. No more than the plan has.
    var rejectedNumbers: Set<Int64> = []

    /// - Parameters:
    ///   - session: names this count of operations; a new one for each run.
    ///   - patience: how long to wait for answers once the service is silent and all is sent.
    public init(_ plan: PublishPlan, session: String, patience: Duration) {
        self.plan = Deque(plan.messages)
        self.session = session
        self.patience = patience
    }

    /// What became of the operations so far.
    public var report: TeacherReport {
        var report = counts
        report.forgotten = outbox.forgotten
        report.unanswered = outbox.operations.count
        report.unsent = plan.count
        return report
    }

    /// What to do now.
    public mutating func next(at now: Duration) -> Step {
        guard isConnected else { return .waitForConnection }
        askIfSilent(at: now)
        if let (message, attempt) = resends.first(in: outbox) {
            guard rate.earliest <= now else { return .wait(until: rate.earliest) }
            resends.removeFirst()
            counts.resent += 1
            return send(message, attempt: attempt, at: now)
        }
        while let message = plan.first {
            guard message.due <= now else {
                return .wait(until: outbox.isEmpty ? message.due : min(message.due, silence.nextQuestion))
            }
            guard message.isWithheld || rate.earliest <= now else { return .wait(until: rate.earliest) }
            plan.removeFirst()
            outbox.keep(message)
            silence.end(at: now)
            if message.isWithheld {
                counts.withheld += 1
            } else {
                counts.published += 1
                return send(message, attempt: 0, at: now)
            }
        }
        let end = silence.began + patience
        if outbox.isEmpty || now >= end { return .finish }
        return .wait(until: min(silence.nextQuestion, end))
    }

    private mutating func send(_ message: OutgoingMessage, attempt: Int, at now: Duration) -> Step {
        rate.take(bytes: message.bytes.count, at: now)
        // The journal drops a message whose id it has had. That is right for what the service reports missing, and
        // wrong where only its answer was lost: then the message has to come through to be answered again.
        let suffix = attempt == 0 ? "" : "-r\(attempt)"
        return .send(message, messageID: "\(session)-\(message.number)-\(message.order)\(suffix)")
    }
}
