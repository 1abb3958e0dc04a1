internal import ClientCore
internal import Foundation
internal import StrokeWire

/// The state of the connection from a client to its gateway.
public enum ConnectionState: Sendable, Equatable {
    /// A connection is being made.
    case connecting
    /// The gateway has let the client in.
    case live
    /// There is no connection. It tries again after this time.
    case waiting(GatewayError, retryAfter: Duration)
}

/// State machine of an event stream that is kept open: connects, resumes after the last event, finds connections that are dead.
///
/// It has no clock and no connection: methods take the time since the start and return actions.
struct EventStreamState: Sendable {
    enum Action: Sendable, Equatable {
        /// Open the stream, and pass what comes of it back with this number.
        case connect(Int, lastEventID: String?)
        /// End the stream that is open.
        case disconnect
        case event(ServerSentEvent)
        case state(ConnectionState)
        /// The gateway does not permit it: stop.
        case refused(GatewayError)
    }

    private enum Phase: Equatable {
        case idle
        case open(heardAt: Duration)
        case waiting(until: Duration)
    }

    /// The gateway sends a comment every 15 s. Nothing for so long, and the connection counts as dead.
    static let silenceLimit = Duration.seconds(40)
    /// How long to wait after an answer that does not change by itself.
    private static let refusedPause = Duration.seconds(30)
    /// Beginnings without the last event's id farther apart than this are independent of each other.
    private static let restartMemory = Duration.seconds(30)

    private let silenceLimit: Duration
    private let eventLimit: Int
    private var phase = Phase.idle
    private var attempt = 0
    private var parser: EventParser
    private var lastEventID: String?
    private var backoff = Backoff(first: .milliseconds(500), longest: .seconds(15))
    private var restarts = Backoff(first: .milliseconds(250), longest: .seconds(15))
    private var random: SeededGenerator
    private var restartedAt: Duration?

    /// - Parameters:
    ///   - eventLimit: bytes of an event at most.
    ///   - seed: of the random parts of waits; another one for each client.
    init(eventLimit: Int, silenceLimit: Duration = silenceLimit, seed: UInt64) {
        (self.eventLimit, self.silenceLimit, random) = (eventLimit, silenceLimit, SeededGenerator(seed: seed))
        parser = EventParser(limit: eventLimit)
    }

    /// When to call ``wake(at:)``, unless another event comes first.
    var deadline: Duration? {
        switch phase {
        case .idle: nil
        case .open(let heardAt): heardAt + silenceLimit
        case .waiting(let until): until
        }
    }

    /// Connects. Call it first.
    mutating func connect(at now: Duration) -> [Action] {
        attempt += 1
        phase = .open(heardAt: now)
        parser = EventParser(limit: eventLimit, id: lastEventID)
        return [.state(.connecting), .connect(attempt, lastEventID: lastEventID)]
    }

    /// The gateway lets the reader in.
    mutating func opened(_ number: Int, at now: Duration) -> [Action] {
        guard number == attempt, case .open = phase else { return [] }
        phase = .open(heardAt: now)
        return [.state(.live)]
    }

    /// Bytes have come. After a ``restart(_:at:)`` for one of the events the rest of them do not count.
    mutating func received(_ bytes: some Collection<UInt8>, _ number: Int, at now: Duration) -> [Action] {
        guard number == attempt, case .open = phase else { return [] }
        phase = .open(heardAt: now)
        var actions: [Action] = []
        do throws(EventParser.TooLarge) {
            try parser.add(bytes) { actions.append(.event($0)) }
        } catch {
            return actions + restart(.tooLarge(eventLimit), at: now)
        }
        if let retry = parser.retry { backoff.first = max(retry / 2, .milliseconds(250)) }
        return actions
    }

    /// An event was used: the next attempt goes on after it.
    mutating func took(_ event: ServerSentEvent) {
        if let id = event.id { lastEventID = id }
        backoff.reset()
    }

    mutating func ended(_ error: GatewayError?, _ number: Int, at now: Duration) -> [Action] {
        guard number == attempt, case .open = phase else { return [] }
        let error = error ?? GatewayError("unreachable", "The connection was lost.")
        if error.isAboutPermission { return [.refused(error)] }
        var wait = backoff.next(atLeast: error.retryAfter, using: &random)
        if !error.isTransient { wait = max(wait, Self.refusedPause) }
        return waitFor(wait, error, at: now)
    }

    /// Bytes that came were dropped: the stream is read again from the last event.
    mutating func inputLost(at now: Duration) -> [Action] {
        guard case .open = phase else { return [] }
        return [.disconnect] + waitFor(nextPause(), GatewayError("overflow", "Too much was waiting."), at: now)
    }

    /// The events contradict each other: the stream is read from its beginning. The first time at once, then with growing
    /// waits: something may be wrong with every board.
    mutating func restart(_ error: GatewayError, at now: Duration) -> [Action] {
        // Also without a connection: the next one begins with a board.
        lastEventID = nil
        guard case .open = phase else { return [] }
        let isFirst = restartedAt.map { now - $0 > Self.restartMemory } ?? true
        if isFirst { restarts.reset() }
        restartedAt = now
        let actions =
            isFirst ? connect(at: now) : waitFor(restarts.next(atLeast: nil, using: &random), error, at: now)
        return [.disconnect] + actions
    }

    /// The deadline has passed.
    mutating func wake(at now: Duration) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        guard case .open = phase else { return connect(at: now) }
        let error = GatewayError("timeout", "Nothing came from the gateway for \(silenceLimit / .seconds(1)) s.")
        return [.disconnect] + waitFor(nextPause(), error, at: now)
    }

    private mutating func nextPause() -> Duration { backoff.next(atLeast: nil, using: &random) }

    private mutating func waitFor(_ wait: Duration, _ error: GatewayError, at now: Duration) -> [Action] {
        phase = .waiting(until: now + wait)
        return [.state(.waiting(error, retryAfter: wait))]
    }
}

/// An event stream of a gateway, for one task that has a queue.
struct EventStream {
    /// What happens outside of the task: for ``receive(_:at:)``.
    enum Input: Sendable {
        case opened(Int)
        case data(Data, Int)
        case ended(GatewayError?, Int)
    }

    /// What the caller has to act upon.
    enum Output {
        /// To be confirmed by ``took(_:)``.
        case event(ServerSentEvent)
        case state(ConnectionState)
    }

    /// Bytes that may wait in the queue: one event of the greatest size, and what comes with it.
    static let queueBytes = eventBytes + (16 << 20)
    /// What an input occupies beside its bytes, about.
    private static let inputOverhead = 128
    /// A board, and the names of its fields.
    private static let eventBytes = JoinReply.maximumBytes + (64 << 10)

    private var state: EventStreamState
    private let gateway: Gateway
    private let request: GatewayRequest
    private let put: @Sendable (Input, _ bytes: Int) -> Void
    private var connection: Task<Void, Never>?

    /// - Parameters:
    ///   - put: queues an input that weighs so many bytes, for ``receive(_:at:)``.
    init(
        of room: RoomID, _ feed: RoomFeed, over gateway: Gateway, silenceLimit: Duration,
        put: @escaping @Sendable (Input, _ bytes: Int) -> Void
    ) {
        state = EventStreamState(
            eventLimit: Self.eventBytes, silenceLimit: silenceLimit, seed: .random(in: .min ... .max))
        (self.gateway, self.put) = (gateway, put)
        request = GatewayRequest(
            path: "api/rooms/\(room.text)/events", query: [feed.query], headers: [("Accept", "text/event-stream")],
            // Silence is for the state machine to notice.
            timeout: .seconds(24 * 3600))
    }

    /// When to call ``receive(_:at:)`` without an input, unless one comes first.
    var deadline: Duration? { state.deadline }

    /// Connects. Call it first, and ``close()`` at the end.
    mutating func open(at now: Duration) throws(GatewayError) -> [Output] { try perform(state.connect(at: now)) }

    /// - Parameter input: nil where the deadline has passed.
    mutating func receive(_ input: Input?, at now: Duration) throws(GatewayError) -> [Output] {
        switch input {
        case nil: try perform(state.wake(at: now))
        case .opened(let number): try perform(state.opened(number, at: now))
        case .data(let data, let number): try perform(state.received(data, number, at: now))
        case .ended(let error, let number): try perform(state.ended(error, number, at: now))
        }
    }

    mutating func took(_ event: ServerSentEvent) { state.took(event) }

    mutating func inputLost(at now: Duration) throws(GatewayError) -> [Output] { try perform(state.inputLost(at: now)) }

    /// The events contradict each other: all is read anew. Events of the same ``receive(_:at:)`` do not count any more.
    mutating func restart(_ why: String, at now: Duration) throws(GatewayError) -> [Output] {
        try perform(state.restart(GatewayError("diverged", why), at: now))
    }

    func close() { connection?.cancel() }

    private mutating func perform(_ actions: [EventStreamState.Action]) throws(GatewayError) -> [Output] {
        var outputs: [Output] = []
        for action in actions {
            switch action {
            case .connect(let number, let lastEventID): connect(number, lastEventID)
            case .disconnect: connection?.cancel()
            case .event(let event): outputs.append(.event(event))
            case .state(let state): outputs.append(.state(state))
            case .refused(let error): throw error
            }
        }
        return outputs
    }

    private mutating func connect(_ number: Int, _ lastEventID: String?) {
        connection?.cancel()
        var request = request
        if let lastEventID { request.headers.append(("Last-Event-ID", lastEventID)) }
        connection = Task { [gateway, put, request] in
            do throws(GatewayError) {
                try await gateway.stream(request) {
                    put(.opened(number), 0)
                } onData: {
                    put(.data($0, number), $0.count + Self.inputOverhead)
                }
                put(.ended(nil, number), 0)
            } catch {
                put(.ended(error, number), 0)
            }
        }
    }
}
