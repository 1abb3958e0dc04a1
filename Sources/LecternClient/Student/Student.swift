public import Logging
public import NATSClient
public import StrokeWire

/// A student client: follows a cohort of a room over NATS.
///
/// Keeps the board as the protocol says: joins without gap or repeat, asks for what is missing, verifies digests and
/// marks, joins again after every reconnect and when the room begins a new life.
public final class Student: Sendable {
    private enum Event: Sendable {
        case released(ReleasedMessage)
        case marked(Mark)
        case malformed(String)
        case reply(JoinReply, ticket: Int)
        case joinFailed(JoinFailure, ticket: Int)
        case connection(ConnectionState)
        case denied(Denial)
    }

    private let connection: NATSConnection
    private let address: RoomAddress
    private let cohort: CohortName
    private let joinTimeout: Duration
    private let logger: Logger
    private let events = EventQueue<Event>()

    /// - Parameters:
    ///   - connection: one that `connect` was called on; it may be lost and come back at any time.
    ///   - joinTimeout: how long one request to join may take.
    public init(
        connection: NATSConnection, address: RoomAddress, cohort: CohortName,
        joinTimeout: Duration = .seconds(3), logger: Logger
    ) {
        self.connection = connection
        self.address = address
        self.cohort = cohort
        self.joinTimeout = joinTimeout
        self.logger = logger
    }

    /// Follows the cohort until `handle` returns false, the time is over, or the task is cancelled. Call it once.
    ///
    /// - Parameters:
    ///   - limit: how long to follow at most; nil for no limit.
    ///   - handle: told what happens, in order, with the session as it is after all that came in one message; runs on
    ///     the caller's executor.
    /// - Throws: `.notPermitted` when this user may not follow the cohort or not join, `.closed` when the connection is.
    /// - Returns: the session in its last state.
    public func follow(
        for limit: Duration? = nil, _ handle: (StudentEvent, borrowing StudentSession) -> Bool
    ) async throws(NATSError) -> StudentSession {
        let needed = [RoomSubject.out(cohort), .mark(cohort)].map { Denial(.subscribe, address.subject($0)) }
        let observations = [
            connection.onDenial { [events] in if needed.contains($0) { events.put(.denied($0)) } },
            connection.onStateChange { [events] in events.put(.connection($0)) },
        ]
        defer { for observation in observations { observation.cancel() } }
        let subscriptions = [try subscribeToOperations(), try subscribeToMarks()]
        defer { for subscription in subscriptions { subscription.unsubscribe() } }
        if connection.state == .connected { events.put(.connection(.connected)) }

        var session = StudentSession()
        var reader = events.reader()
        defer { reader.cancelAlarm() }
        let start = ContinuousClock.now
        var dropped = 0
        while !Task.isCancelled {
            if let limit, start.duration(to: .now) >= limit { break }
            let deadline = [session.deadline, limit].compactMap { $0 }.min()
            let event = await reader.next(until: deadline.map { start + $0 })
            let now = start.duration(to: .now)
            var actions = try perform(event, on: &session, at: now)
            if events.dropped > dropped {
                dropped = events.dropped
                actions += session.inputLost(at: now)
            }
            for action in actions {
                switch action {
                case .join(let request, let ticket): join(request, ticket)
                case .tell(let event): if !handle(event, session) { return session }
                }
            }
        }
        return session
    }

    private func perform(
        _ event: Event?, on session: inout StudentSession, at now: Duration
    ) throws(NATSError) -> [StudentAction] {
        switch event {
        case nil: return session.wake(at: now)
        case .released(let message): return session.receive(message, at: now)
        case .marked(let mark): return session.receive(mark, at: now)
        case .malformed(let why): return session.receiveMalformed(why)
        case .reply(let reply, let ticket): return session.joined(reply, ticket: ticket, at: now)
        case .joinFailed(let why, let ticket): return session.joinFailed(why, ticket: ticket, at: now)
        case .connection(.connected): return session.connected(at: now)
        case .connection(.closed): throw .closed
        case .denied(let denial): throw .notPermitted(denial)
        case .connection:
            session.disconnected()
            return []
        }
    }

    private func subscribeToOperations() throws(NATSError) -> NATSSubscription {
        try connection.subscribe(address.subject(.out(cohort))) { [events] message in
            do throws(MalformedRelease) {
                events.put(.released(try ReleasedMessage(message)))
            } catch {
                events.put(.malformed(error.description))
            }
        }
    }

    private func subscribeToMarks() throws(NATSError) -> NATSSubscription {
        try connection.subscribe(address.subject(.mark(cohort))) { [events] message in
            do throws(Rejection) {
                events.put(.marked(try Mark(decoding: message.copyPayload())))
            } catch {
                events.put(.malformed("mark: \(error.message)"))
            }
        }
    }

    /// Asks in a task of its own: operations go on coming meanwhile, and the answer may take many messages.
    private func join(_ request: JoinRequest, _ ticket: Int) {
        logger.debug("joining", metadata: ["cohort": "\(cohort)", "have": "\(request.have ?? 0)"])
        Task { [connection, events, joinTimeout, subject = address.subject(.join(cohort))] in
            do throws(NATSError) {
                let reply = try await connection.requestParts(request.encoded(), to: subject, timeout: joinTimeout)
                events.put(Self.read(reply.payload, ticket))
            } catch .notPermitted(let denial) {
                events.put(.denied(denial))
            } catch {
                events.put(.joinFailed(.unanswered(error.description), ticket: ticket))
            }
        }
    }

    private static func read(_ payload: [UInt8], _ ticket: Int) -> Event {
        if let error = RequestError(decoding: payload) {
            return .joinFailed(.refused("\(error.code.rawValue): \(error.message)"), ticket: ticket)
        }
        do throws(Rejection) {
            return .reply(try JoinReply(decoding: payload), ticket: ticket)
        } catch {
            return .joinFailed(.refused("the reply cannot be read: \(error.message)"), ticket: ticket)
        }
    }
}
