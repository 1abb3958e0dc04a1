public import Logging
public import NATSClient
public import StrokeWire

/// A teacher client: publishes the messages of one author and reacts to the service's feedback.
///
/// It stays below the service's rate limit per author, resends unacknowledged and missing messages, and continues after
/// a reconnect. Unsettled operations are kept for that: at 16,384 operations or 64 MiB, publishing waits until the
/// service or the journal has caught up.
public final class Teacher: Sendable {
    /// Interval of progress reports and of checks of the connection.
    private static let heartbeat = Duration.milliseconds(500)
    /// Bytes of feedback and replies that may wait to be read.
    private static let queueBytes = 16 << 20

    private let connection: NATSConnection
    private let address: RoomAddress
    private let author: AuthorID
    private let logger: Logger

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on; it may be lost and restored at any time.
    ///   - address: the room's address.
    ///   - author: whose messages are published.
    ///   - logger: for what goes wrong and mends itself.
    public init(connection: NATSConnection, address: RoomAddress, author: AuthorID, logger: Logger) {
        (self.connection, self.address, self.author, self.logger) = (connection, address, author, logger)
    }

    /// Publishes a plan, and returns when the service has answered every operation.
    ///
    /// A lost connection is waited for.
    ///
    /// - Parameters:
    ///   - plan: the messages and their times.
    ///   - session: id of this sequence of operation numbers: 1 … 64 visible ASCII characters, a new one for each
    ///     sequence. The outbox's session takes precedence.
    ///   - outbox: a file that records the messages and resumes an earlier run; nil keeps them in memory.
    ///   - wetInk: whether strokes are shown while they are being drawn: their points go out on `.wet-in` as the pen
    ///     reaches them. Without permission for that, it is left out.
    ///   - answerTimeout: how long to wait when everything is sent and the service is silent, or when no message gets
    ///     through; at least a minute if some got through before.
    ///   - progress: called twice a second on the caller's executor.
    ///   - onSettled: called on the caller's executor with each operation that the service has answered, and once more with
    ///     one that a restored log had lost.
    /// - Throws: errors of NATS that a retry cannot mend, a missing permission, errors of the outbox file.
    /// - Returns: the state of the operations, with those of earlier runs of the outbox; also when the task is cancelled,
    ///   and when a newer session of the author has ended this one.
    public func publish(
        _ plan: PublishPlan, session: String = Teacher.newSession(), outbox: OutboxFile? = nil, wetInk: Bool = true,
        answerTimeout: Duration = .seconds(10),
        progress: (TeacherReport) -> Void = { _ in },
        onSettled: ((_ number: Int64, OutboxRecord.Outcome) -> Void)? = nil
    ) async throws(TeacherError) -> TeacherReport {
        var state = try begin(plan, session: session, outbox: outbox, answerTimeout: answerTimeout)
        if onSettled != nil { state.keepRecords() }
        var playback = wetInk ? WetPlayback(state.unsent, speed: plan.speed) : nil
        var wetUpdates = 0
        func report(_ state: TeacherSession) -> TeacherReport {
            var report = state.report
            report.wetUpdates = wetUpdates
            return report
        }
        let events = EventQueue<TeacherEvent>(bytes: Self.queueBytes)
        let transport: TeacherTransport
        do throws(NATSError) {
            transport = try TeacherTransport(connection, address: address, author: author, events: events)
        } catch {
            throw .nats(error)
        }
        defer { transport.close() }
        var reader = events.reader()
        defer { reader.cancelAlarm() }

        let start = ContinuousClock.now
        var reported = start
        while !Task.isCancelled {
            let now = start.duration(to: .now)
            let step = state.next(at: now)
            // Recorded before it is sent, so that the next run knows everything that may have arrived.
            try keep(state.takeRecords(), in: outbox, onSettled)
            let deadline: Duration
            switch step {
            case .send(let message, let messageID, let receipt):
                try send(message, messageID, receipt, over: transport, &state)
                deadline = now
            case .wait(let time):
                deadline = min(time, now + Self.heartbeat)
            case .waitForConnection:
                // The event of the reconnect may have come before the loss was noticed here.
                let isBack = connection.state == .connected
                if isBack { state.connectionReturned(at: now) }
                deadline = isBack ? now : now + Self.heartbeat
            case .finish:
                return report(state)
            }
            for update in playback?.updates(at: now) ?? [] where connection.state == .connected {
                // One that is lost is healed by a later one.
                if (try? transport.publish(wet: update, session: state.session)) != nil { wetUpdates += 1 }
            }
            state.feedbackDropped(events.dropped)
            if reported.duration(to: .now) >= Self.heartbeat {
                reported = .now
                progress(report(state))
            }
            let wake = min(deadline, playback?.deadline ?? deadline)
            switch await reader.next(until: start + wake) {
            case nil: continue
            case .wetDenied:
                playback = nil
                logger.warning("strokes are not shown while they are drawn: no permission for their updates")
            case let event?: try handle(event, &state, at: start.duration(to: .now))
            }
        }
        try keep(state.takeRecords(), in: outbox, onSettled)
        return report(state)
    }

    /// A new session id: 64 random bits in hexadecimal.
    public static func newSession() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    private func begin(
        _ plan: PublishPlan, session: String, outbox: OutboxFile?, answerTimeout: Duration
    ) throws(TeacherError) -> TeacherSession {
        let session = outbox?.session ?? session
        let ids = MessageIDs(room: address.room.text, author: author.text, session: session, run: Self.newSession())
        guard let outbox else {
            return TeacherSession(plan.messages, session: session, ids: ids, answerTimeout: answerTimeout)
        }
        do throws(OutboxHistory.LessonMismatch) {
            let rest = try outbox.history.rest(of: plan)
            var state = TeacherSession(rest, session: session, ids: ids, answerTimeout: answerTimeout)
            state.resume(outbox.history)
            return state
        } catch {
            throw .outbox(OutboxFileError(outbox.path, .lessonMismatch(number: error.number)))
        }
    }

    /// Writes records, and then tells of those that settle an operation.
    private func keep(
        _ records: [OutboxRecord], in outbox: OutboxFile?,
        _ onSettled: ((_ number: Int64, OutboxRecord.Outcome) -> Void)?
    ) throws(TeacherError) {
        do throws(OutboxFileError) {
            try outbox?.append(records)
        } catch {
            throw .outbox(error)
        }
        for case .settled(let number, let outcome) in records { onSettled?(number, outcome) }
    }

    private func send(
        _ message: [UInt8], _ messageID: String, _ receipt: Receipt, over transport: TeacherTransport,
        _ state: inout TeacherSession
    ) throws(TeacherError) {
        do throws(NATSError) {
            try transport.publish(message, session: state.session, messageID: messageID, receipt)
        } catch {
            switch error {
            case .disconnected: state.connectionLost()
            // On a busy machine a write may take long: the message is sent again like one that was lost.
            case .backlogged: break
            default: throw .nats(error)
            }
        }
    }

    private func handle(
        _ event: TeacherEvent, _ state: inout TeacherSession, at now: Duration
    ) throws(TeacherError) {
        switch event {
        case .reply(let reply, let receipt):
            state.receive(reply, receipt, at: now)
        case .feedback(let payload):
            do throws(Rejection) {
                state.receive(try FeedbackMessage(decoding: payload), at: now)
            } catch {
                state.receiveMalformedFeedback()
                logger.warning("feedback cannot be decoded", metadata: ["error": "\(error.message)"])
            }
        case .connection(.connected):
            state.connectionReturned(at: now)
        case .connection(.disconnected):
            state.connectionLost()
        case .connection(.closed):
            throw .nats(.closed)
        case .connection(.connecting):
            break
        case .denied(let violation):
            throw .nats(.notPermitted(violation))
        case .wetDenied:
            break
        }
    }
}

/// An error that ends publishing.
public enum TeacherError: Error, Sendable, Equatable, CustomStringConvertible {
    /// NATS rejected a message, denied a permission, or the connection was closed.
    case nats(NATSError)
    /// The outbox file belongs to another lesson, or cannot be written.
    case outbox(OutboxFileError)

    public var description: String {
        switch self {
        case .nats(let error): "\(error)"
        case .outbox(let error): "\(error)"
        }
    }
}

private enum TeacherEvent: Sendable {
    case feedback([UInt8])
    case reply(PublishReply, Receipt)
    case connection(ConnectionState)
    case denied(PermissionViolation)
    /// Updates of strokes being drawn are not permitted.
    case wetDenied
}

/// The NATS side of a teacher: publishes messages; queues feedback, publish replies and changes of the connection.
private struct TeacherTransport: Sendable {
    private let connection: NATSConnection
    private let input: String
    private let wetInput: String
    private let inbox: String
    private let subscriptions: [NATSSubscription]
    private let observations: [Observation]

    /// Subscribes, and queues the input.
    init(
        _ connection: NATSConnection, address: RoomAddress, author: AuthorID, events: EventQueue<TeacherEvent>
    ) throws(NATSError) {
        self.connection = connection
        input = address.subject(.input(author))
        wetInput = address.subject(.wetInput(author))
        let inbox = connection.makeInbox() + "."
        self.inbox = inbox
        let needed = [
            PermissionViolation(.publish, input), PermissionViolation(.subscribe, address.subject(.feedback(author))),
            PermissionViolation(.subscribe, inbox + "*"),
        ]
        let wetViolation = PermissionViolation(.publish, wetInput)
        observations = [
            connection.onPermissionViolation { if $0 == wetViolation { events.put(.wetDenied) } },
            connection.onPermissionViolation { if needed.contains($0) { events.put(.denied($0)) } },
            connection.onStateChange { events.put(.connection($0)) },
        ]
        let feedback = try connection.subscribe(address.subject(.feedback(author))) { message in
            events.put(.feedback(message.copyPayload()), bytes: message.payloadSize)
        }
        let replies: NATSSubscription
        do throws(NATSError) {
            replies = try connection.subscribe(inbox + "*") { message in
                guard let receipt = Receipt(String(message.subject.dropFirst(inbox.count))),
                    let reply = PublishReply(message)
                else { return }
                events.put(.reply(reply, receipt), bytes: message.payloadSize)
            }
        } catch {
            feedback.unsubscribe()
            throw error
        }
        subscriptions = [feedback, replies]
    }

    func publish(
        _ message: [UInt8], session: String, messageID: String, _ receipt: Receipt
    ) throws(NATSError) {
        try connection.publish(
            message, to: input, reply: inbox + receipt.description,
            headers: [HeaderName.session: session, HeaderName.msgID: messageID])
    }

    /// Publishes an update of a stroke being drawn; nothing answers it.
    func publish(wet update: [UInt8], session: String) throws(NATSError) {
        try connection.publish(update, to: wetInput, headers: [HeaderName.session: session])
    }

    func close() {
        for subscription in subscriptions { subscription.unsubscribe() }
        for observation in observations { observation.cancel() }
    }
}
