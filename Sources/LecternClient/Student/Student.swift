// The board, the session and its events are part of this module's API.
@_exported public import ClientCore
public import Logging
public import NATSClient
public import StrokeWire

/// A student client: follows a cohort of a room over NATS, or the head of its log.
///
/// Keeps a board by the protocol's rules: joins without gap or repeat, requests missing operations, verifies digests and
/// marks, and joins again after each reconnect and at each new incarnation of the room.
///
/// Memory: 80 MiB of messages that wait to be read at most, and what `StudentSession` keeps.
public final class Student: Sendable {
    private enum Event: Sendable {
        case released(ReleasedMessage)
        case marked(Mark)
        case malformed(String)
        case wet(WetRelease, room: String)
        case reply(JoinReply, ticket: Int)
        case joinFailed(JoinFailure, ticket: Int)
        case connection(ConnectionState)
        case denied(PermissionViolation)
    }

    private let connection: NATSConnection
    private let address: RoomAddress
    private let feed: RoomFeed
    private let joinTimeout: Duration
    private let encoding: WireEncoding
    private let wetInk: Bool
    private let logger: Logger
    private let events: EventQueue<Event>

    /// Bytes of messages that may wait: a reply of the greatest size, and what comes with it.
    private static let queueBytes = JoinReply.maximumBytes + (16 << 20)

    /// - Parameters:
    ///   - connection: a connection that `connect` was called on; it may be lost and restored at any time.
    ///   - joinTimeout: time limit of one join request.
    ///   - encoding: the form of join replies to ask for. The service decides on that of operations; both are read.
    ///   - wetInk: whether to follow strokes being drawn, too: the events `StudentEvent.wet`.
    public convenience init(
        connection: NATSConnection, address: RoomAddress, feed: RoomFeed, joinTimeout: Duration = .seconds(3),
        encoding: WireEncoding = .json, wetInk: Bool = false, logger: Logger
    ) {
        self.init(
            connection: connection, address: address, feed: feed, joinTimeout: joinTimeout, encoding: encoding,
            wetInk: wetInk, queueBytes: Self.queueBytes, logger: logger)
    }

    init(
        connection: NATSConnection, address: RoomAddress, feed: RoomFeed, joinTimeout: Duration,
        encoding: WireEncoding, wetInk: Bool, queueBytes: Int, logger: Logger
    ) {
        events = EventQueue(bytes: queueBytes)
        (self.connection, self.address, self.feed, self.joinTimeout) = (connection, address, feed, joinTimeout)
        (self.encoding, self.wetInk, self.logger) = (encoding, wetInk, logger)
    }

    /// Makes a student of a cohort.
    public convenience init(
        connection: NATSConnection, address: RoomAddress, cohort: CohortName,
        joinTimeout: Duration = .seconds(3), encoding: WireEncoding = .json, wetInk: Bool = false, logger: Logger
    ) {
        self.init(
            connection: connection, address: address, feed: .cohort(cohort), joinTimeout: joinTimeout,
            encoding: encoding, wetInk: wetInk, logger: logger)
    }

    /// Follows the feed until `handle` returns false, the limit has passed, or the task is cancelled. Call it once.
    ///
    /// - Parameters:
    ///   - limit: longest time to follow; nil for no limit.
    ///   - handle: called with each event in order, and with the session after the message that caused it; runs on the
    ///     caller's executor.
    /// - Throws: `.notPermitted` when the user lacks a permission for the feed, `.closed` when the connection is closed.
    /// - Returns: the final session.
    public func follow(
        for limit: Duration? = nil, _ handle: (StudentEvent, borrowing StudentSession) -> Bool
    ) async throws(NATSError) -> StudentSession {
        // Permissions of older releases have no marks of the head.
        let needed = [feed.operations, feed == .head ? nil : feed.marks, wetInk ? feed.wet : nil].compactMap {
            $0.map { PermissionViolation(.subscribe, address.subject($0)) }
        }
        let observations = [
            connection.onPermissionViolation { [events] in if needed.contains($0) { events.put(.denied($0)) } },
            connection.onStateChange { [events] in events.put(.connection($0)) },
        ]
        defer { for observation in observations { observation.cancel() } }
        let subscriptions = [try subscribeToOperations(), try subscribeToMarks(), try subscribeToWetInk()]
            .compactMap(\.self)
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
                case .emit(let event): if !handle(event, session) { return session }
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
        case .wet(let wet, let room): return session.receive(wet, of: room)
        case .reply(let reply, let ticket): return session.joined(reply, ticket: ticket, at: now)
        case .joinFailed(let why, let ticket): return session.joinFailed(why, ticket: ticket, at: now)
        case .connection(.connected): return session.connected(at: now)
        case .connection(.closed): throw .closed
        case .denied(let violation): throw .notPermitted(violation)
        case .connection:
            session.disconnected()
            return []
        }
    }

    private func subscribeToOperations() throws(NATSError) -> NATSSubscription {
        try connection.subscribe(address.subject(feed.operations)) { [events] message in
            do throws(MalformedRelease) {
                events.put(.released(try ReleasedMessage(message)), bytes: message.payloadSize)
            } catch {
                events.put(.malformed(error.description))
            }
        }
    }

    private func subscribeToMarks() throws(NATSError) -> NATSSubscription {
        try connection.subscribe(address.subject(feed.marks)) { [events] message in
            do throws(Rejection) {
                events.put(.marked(try Mark(decoding: message.copyPayload())), bytes: message.payloadSize)
            } catch {
                events.put(.malformed("mark: \(error.message)"))
            }
        }
    }

    private func subscribeToWetInk() throws(NATSError) -> NATSSubscription? {
        guard wetInk else { return nil }
        return try connection.subscribe(address.subject(feed.wet)) { [events] message in
            do throws(Rejection) {
                let wet = try WetRelease(decoding: message.copyPayload(), limits: .any)
                events.put(.wet(wet, room: message.header(HeaderName.room) ?? ""), bytes: message.payloadSize)
            } catch {
                events.put(.malformed("wet ink: \(error.message)"))
            }
        }
    }

    /// Requests a join in a task of its own: operations continue to arrive, and the reply may come in many parts.
    private func join(_ request: JoinRequest, _ ticket: Int) {
        var request = request
        request.encoding = encoding
        logger.debug("joining", metadata: ["feed": "\(feed.operations)", "have": "\(request.have ?? 0)"])
        Task { [connection, events, joinTimeout, request, subject = address.subject(feed.join)] in
            do throws(NATSError) {
                let reply = try await connection.requestParts(request.encoded(), to: subject, timeout: joinTimeout)
                events.put(Self.read(reply.payload, ticket), bytes: reply.payload.count)
            } catch .notPermitted(let violation) {
                events.put(.denied(violation))
            } catch {
                events.put(.joinFailed(.unanswered(error.description), ticket: ticket))
            }
        }
    }

    private static func read(_ payload: [UInt8], _ ticket: Int) -> Event {
        if BinaryMessage.isBinary(payload) {
            do throws(BinaryFormError) {
                return .reply(try JoinReply(binary: payload), ticket: ticket)
            } catch {
                return .joinFailed(.refused("the reply cannot be decoded: \(error)"), ticket: ticket)
            }
        }
        if let error = RequestError(decoding: payload) {
            return .joinFailed(.refused("\(error.code.rawValue): \(error.message)"), ticket: ticket)
        }
        do throws(Rejection) {
            return .reply(try JoinReply(decoding: payload), ticket: ticket)
        } catch {
            return .joinFailed(.refused("the reply cannot be decoded: \(error.message)"), ticket: ticket)
        }
    }
}
