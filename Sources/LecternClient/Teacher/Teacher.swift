public import Logging
public import NATSClient
public import StrokeWire

/// A teacher client: publishes the messages of one author and answers what the service says about them.
///
/// Stays below what the service takes from one author, sends again what it misses, and goes on after a reconnect. What
/// is not answered is kept for that, up to 16,384 operations or 64 MiB; beyond that the oldest is forgotten and counted.
public final class Teacher: Sendable {
    private enum Event: Sendable {
        case feedback([UInt8])
        case connection(ConnectionState)
    }

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
    ///   - session: names this count of operations: 1 … 64 visible ASCII characters, another for each run.
    ///   - patience: how long to wait for answers when all is sent and the service is silent.
    ///   - progress: told twice a second, on the caller's executor.
    /// - Throws: what NATS says to a message that it never takes. A lost connection is waited for.
    /// - Returns: what became of the operations; also when the task is cancelled.
    public func publish(
        _ plan: PublishPlan, session: String = Teacher.newSession(), patience: Duration = .seconds(10),
        progress: (TeacherReport) -> Void = { _ in }
    ) async throws(NATSError) -> TeacherReport {
        let events = EventQueue<Event>()
        let feedback = try connection.subscribe(address.subject(.feedback(author))) { message in
            events.put(.feedback(message.copyPayload()))
        }
        defer { feedback.unsubscribe() }
        connection.onStateChange { events.put(.connection($0)) }
        var reader = events.reader()
        defer { reader.cancelAlarm() }

        var state = TeacherSession(plan, session: session, patience: patience)
        let start = ContinuousClock.now
        var reported = start
        while !Task.isCancelled {
            let now = start.duration(to: .now)
            let deadline: Duration
            switch state.next(at: now) {
            case .send(let message, let messageID):
                try send(message, messageID, &state)
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
        return state.report
    }

    /// A session name that nobody had before: 64 random bits in hexadecimal.
    public static func newSession() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }

    private func send(
        _ message: OutgoingMessage, _ messageID: String, _ state: inout TeacherSession
    ) throws(NATSError) {
        do throws(NATSError) {
            try connection.publish(
                message.bytes, to: address.subject(.input(author)),
                headers: [HeaderName.session: state.session, HeaderName.msgID: messageID])
        } catch {
            guard error == .disconnected else { throw error }
            state.connectionLost()
        }
    }

    private func handle(_ event: Event, _ state: inout TeacherSession, at now: Duration) throws(NATSError) {
        switch event {
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
            throw .closed
        case .connection(.connecting):
            break
        }
    }
}
