public import Logging
public import NATSClient
public import StrokeWire

/// A teacher client: publishes the messages of one author and answers what the service says about them.
///
/// Stays below what the service takes from one author, sends again what is not acknowledged or reported missing, and
/// goes on after a reconnect. What is not settled is kept for that: at 16,384 operations or 64 MiB of it, publishing
/// waits until the service or the journal has caught up.
public final class Teacher: Sendable {
    /// How often a caller hears of the progress, and the connection is looked at.
    private static let heartbeat = Duration.milliseconds(500)

    private let connection: NATSConnection
    private let address: RoomAddress
    private let author: AuthorID
    private let logger: Logger

    /// - Parameter connection: one that `connect` was called on; it may be lost and come back at any time.
    public init(connection: NATSConnection, address: RoomAddress, author: AuthorID, logger: Logger) {
        self.connection = connection
        self.address = address
        self.author = author
        self.logger = logger
    }

    /// Publishes a plan, and returns when everything is answered.
    ///
    /// - Parameters:
    ///   - session: names this count of operations: 1 … 64 visible ASCII characters, another for each count. A file's
    ///     wins.
    ///   - outbox: a file to go on from, and to write down what is sent; nil to keep it in memory.
    ///   - patience: how long to wait for answers when all is sent and the service is silent, or when nothing gets
    ///     through; a minute at least for what got through before.
    ///   - progress: told twice a second, on the caller's executor.
    /// - Throws: what NATS says to a message that it never takes, or to a user who may not publish as this author;
    ///   what the outbox file says. A lost connection is waited for.
    /// - Returns: what became of the operations, those of earlier runs with the same file included; also when the task
    ///   is cancelled.
    public func publish(
        _ plan: PublishPlan, session: String = Teacher.newSession(), outbox: OutboxFile? = nil,
        patience: Duration = .seconds(10), progress: (TeacherReport) -> Void = { _ in }
    ) async throws(TeacherError) -> TeacherReport {
        var state = try begin(plan, session: session, outbox: outbox, patience: patience)
        let events = EventQueue<TeacherEvent>()
        let link: TeacherLink
        do throws(NATSError) {
            link = try TeacherLink(connection, address: address, author: author, events: events)
        } catch {
            throw .nats(error)
        }
        defer { link.close() }
        var reader = events.reader()
        defer { reader.cancelAlarm() }

        let start = ContinuousClock.now
        var reported = start
        while !Task.isCancelled {
            let now = start.duration(to: .now)
            let step = state.next(at: now)
            // Written down before it is sent: whatever may have arrived is known to the next run.
            try write(state.takeRecords(), to: outbox)
            let deadline: Duration
            switch step {
            case .send(let message, let messageID, let receipt):
                try send(message, messageID, receipt, over: link, &state)
                deadline = now
            case .wait(let time):
                deadline = min(time, now + Self.heartbeat)
            case .waitForConnection:
                // The news of it may have been read before the loss was noticed here.
                let isBack = connection.state == .connected
                if isBack { state.connectionReturned(at: now) }
                deadline = isBack ? now : now + Self.heartbeat
            case .finish:
                return state.report
            }
            state.feedbackDropped(events.dropped)
            if reported.duration(to: .now) >= Self.heartbeat {
                reported = .now
                progress(state.report)
            }
            if let event = await reader.next(until: start + deadline) {
                try handle(event, &state, at: start.duration(to: .now))
            }
        }
        try write(state.takeRecords(), to: outbox)
        return state.report
    }

    /// A session name that nobody had before: 64 random bits in hexadecimal.
    public static func newSession() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }

    private func begin(
        _ plan: PublishPlan, session: String, outbox: OutboxFile?, patience: Duration
    ) throws(TeacherError) -> TeacherSession {
        let session = outbox?.session ?? session
        let ids = MessageIDs(room: address.room.text, author: author.text, session: session, run: Self.newSession())
        guard let outbox else { return TeacherSession(plan.messages, session: session, ids: ids, patience: patience) }
        do throws(OutboxHistory.OtherLesson) {
            let rest = try outbox.history.rest(of: plan)
            var state = TeacherSession(rest, session: session, ids: ids, patience: patience)
            state.resume(outbox.history)
            return state
        } catch {
            throw .outbox(OutboxFileError(outbox.path, .otherLesson(number: error.number)))
        }
    }

    private func write(_ records: [OutboxRecord], to outbox: OutboxFile?) throws(TeacherError) {
        do throws(OutboxFileError) {
            try outbox?.append(records)
        } catch {
            throw .outbox(error)
        }
    }

    private func send(
        _ message: OutgoingMessage, _ messageID: String, _ receipt: Receipt, over link: TeacherLink,
        _ state: inout TeacherSession
    ) throws(TeacherError) {
        do throws(NATSError) {
            try link.publish(message, session: state.session, messageID: messageID, receipt)
        } catch {
            guard error == .disconnected else { throw .nats(error) }
            state.connectionLost()
        }
    }

    private func handle(
        _ event: TeacherEvent, _ state: inout TeacherSession, at now: Duration
    ) throws(TeacherError) {
        switch event {
        case .answer(let answer, let receipt):
            state.receive(answer, receipt, at: now)
        case .feedback(let payload):
            do throws(Rejection) {
                state.receive(try Feedback(decoding: payload), at: now)
            } catch {
                state.receiveMalformedFeedback()
                logger.warning("feedback that cannot be read", metadata: ["error": "\(error.message)"])
            }
        case .connection(.connected):
            state.connectionReturned(at: now)
        case .connection(.disconnected):
            state.connectionLost()
        case .connection(.closed):
            throw .nats(.closed)
        case .connection(.connecting):
            break
        case .denied(let denial):
            throw .nats(.notPermitted(denial))
        }
    }
}
