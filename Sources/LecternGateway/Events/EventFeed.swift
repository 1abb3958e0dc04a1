internal import LecternClient
internal import Locking
internal import Logging
internal import Metrics
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// One feed of a room, a cohort's or the head's, for all its readers in this gateway: one subscription, and each event
/// encoded once. Safe from any thread.
final class EventFeed: Sendable {
    private typealias Feed = FeedState<EventReader>

    private struct State {
        var feed: Feed
        var deliveries = DeliveryQueue<EventReader>()
        var loops: [ObjectIdentifier: FeedReaders] = [:]
        var subscriptions: [NATSSubscription] = []
        var observation: Observation?
        var timer: (deadline: Duration, task: Scheduled<Void>)?
        var isClosed = false
        /// When a reader last started with the board.
        var boardUse = ContinuousClock.now
    }

    private let address: RoomAddress
    private let source: RoomFeed
    private let connection: NATSConnection
    private let shared: EventResources
    /// Where its timers run.
    private let loop: any EventLoop
    private let start = ContinuousClock.now
    private let state: Locked<State>

    init(
        _ source: RoomFeed, of address: RoomAddress, _ connection: NATSConnection, _ shared: EventResources,
        loop: any EventLoop
    ) {
        self.address = address
        self.source = source
        self.connection = connection
        self.shared = shared
        self.loop = loop
        state = Locked(State(feed: Feed(shared.recent)))
    }

    /// Subscribes and joins. Call it once, before the first reader.
    func open() throws(NATSError) {
        let subscriptions = [
            try connection.subscribe(address.subject(source.operations)) { [weak self] in self?.receive($0) },
            try connection.subscribe(address.subject(source.wet)) { [weak self] in self?.receiveWet($0) },
            try connection.subscribe(address.subject(source.marks)) { [weak self] in self?.receiveMark($0) },
        ]
        let observation = connection.onStateChange { [weak self] state in
            guard let self else { return }
            perform {
                state == .connected ? $0.connected(at: $1, into: &$2) : $0.disconnected(into: &$2)
            }
        }
        state.withLock { state in
            state.subscriptions = subscriptions
            state.observation = observation
        }
        if connection.state == .connected { perform { $0.connected(at: $1, into: &$2) } }
    }

    /// Adds a reader, which is admitted or refused later.
    /// - Parameter have: what it has; nil for nothing.
    func add(_ reader: EventReader, have: FeedPosition?) {
        perform { feed, _, actions in feed.add(reader, have: have, into: &actions) }
    }

    func remove(_ reader: EventReader) {
        let readers = state.withLock { $0.loops[ObjectIdentifier(reader.channel.eventLoop)] }
        readers?.put(.detach(reader))
    }

    /// Ends subscriptions and timers; it has no readers.
    func close() {
        let (subscriptions, observation, timer) = state.withLock { state in
            state.isClosed = true
            return (state.subscriptions, state.observation, state.timer)
        }
        for subscription in subscriptions { subscription.unsubscribe() }
        observation?.cancel()
        timer?.task.cancel()
    }

    /// When a reader last started with the board that is kept for readers who come; nil where none is kept.
    var boardUse: ContinuousClock.Instant? {
        state.withLock { $0.feed.keepsBoard ? $0.boardUse : nil }
    }

    /// Forgets the board that is kept for readers who come.
    func dropBoard() {
        state.withLock { $0.feed.dropBoard() }
    }

    private func receive(_ message: borrowing NATSMessage) {
        do throws(MalformedRelease) {
            let message = try ReleasedMessage(message)
            guard message.room.isEventID else { return shared.metrics.malformed.increment() }
            perform { $0.receive(message, at: $1, into: &$2) }
        } catch {
            shared.metrics.malformed.increment()
            shared.logger.warning(
                "a released operation cannot be read", metadata: ["room": "\(address.room)", "error": "\(error)"])
        }
    }

    private func receiveMark(_ message: borrowing NATSMessage) {
        do throws(Rejection) {
            let mark = try Mark(decoding: message.copyPayload())
            perform { $0.receive(mark, at: $1, into: &$2) }
        } catch {
            shared.metrics.malformed.increment()
        }
    }

    private func receiveWet(_ message: borrowing NATSMessage) {
        let bytes = message.copyPayload()
        guard let room = message.header(HeaderName.room),
            (try? WetRelease(decoding: bytes, limits: .any)) != nil
        else { return shared.metrics.malformed.increment() }
        shared.metrics.wet.increment()
        let event = StreamEvent.wet(bytes)
        perform { feed, _, actions in feed.receive(wet: event, of: room, into: &actions) }
    }

    /// Changes the state and performs the actions. The lock is held for both: events go to all loops in one order.
    private func perform(_ change: (inout Feed, _ now: Duration, inout [Feed.Action]) -> Void) {
        let now = ContinuousClock.now - start
        state.withLock { state in
            guard !state.isClosed else { return }
            var actions: [Feed.Action] = []
            change(&state.feed, now, &actions)
            carryOut(state.deliveries.add(actions), &state)
            setTimer(&state, now)
        }
    }

    private func carryOut(_ steps: [DeliveryQueue<EventReader>.Step], _ state: inout State) {
        for step in steps {
            switch step {
            case .perform(let action): perform(action, &state)
            case .compress(let events, let number):
                Task {
                    for event in events { event.compress() }
                    self.state.withLock { state in
                        if !state.isClosed { carryOut(state.deliveries.compressed(number), &state) }
                    }
                }
            }
        }
    }

    private func perform(_ action: Feed.Action, _ state: inout State) {
        switch action {
        case .send(let event):
            if case .operation = event.kind { shared.metrics.operations.increment() }
            for readers in state.loops.values { readers.put(.send(event)) }
        case .reset(let event):
            for readers in state.loops.values { readers.put(.reset(event)) }
        case .attach(let reader, let events, let index):
            if index == 0 { state.boardUse = .now }
            readers(of: reader, &state).put(.attach(reader, events, after: index))
        case .refuse(let reader, let error):
            readers(of: reader, &state).put(.refuse(reader, error))
        case .join(let request, let ticket):
            join(request, ticket)
        }
    }

    private func readers(of reader: EventReader, _ state: inout State) -> FeedReaders {
        let loop = reader.channel.eventLoop
        if let known = state.loops[ObjectIdentifier(loop)] { return known }
        let made = FeedReaders(loop, shared.limits)
        state.loops[ObjectIdentifier(loop)] = made
        return made
    }

    private func setTimer(_ state: inout State, _ now: Duration) {
        let deadline = state.feed.deadline
        guard deadline != state.timer?.deadline else { return }
        state.timer?.task.cancel()
        state.timer = deadline.map { deadline in
            let task = loop.scheduleTask(in: TimeAmount(max(.zero, deadline - now))) { [weak self] () -> Void in
                self?.wake(at: deadline)
            }
            return (deadline, task)
        }
    }

    private func wake(at deadline: Duration) {
        state.withLock { state in
            if state.timer?.deadline == deadline { state.timer = nil }
        }
        perform { $0.wake(at: max($1, deadline), into: &$2) }
    }
}

/// A join reply, read.
struct FeedJoin {
    enum Content {
        case board(StreamEvent)
        /// One after the other, for the feed.
        case operations([(ReleasedOperation, BoardDigest)])
        /// As one event, for readers.
        case tail(StreamEvent)
    }

    let position: FeedPosition
    let digest: BoardDigest
    let gate: GateState?
    let content: Content
}

/// Joins.
extension EventFeed {
    /// In a task of its own: operations continue to arrive, and the reply may come in many parts.
    private func join(_ request: JoinRequest, _ ticket: Feed.Ticket) {
        Task {
            do throws(GatewayError) {
                let join = try await ask(request, ticket)
                shared.metrics.joins.increment()
                perform { $0.joined(join, ticket, at: $1, into: &$2) }
            } catch {
                shared.metrics.failedJoins.increment()
                perform { $0.joinFailed(error, ticket, at: $1, into: &$2) }
            }
        }
    }

    private func ask(_ request: JoinRequest, _ ticket: Feed.Ticket) async throws(GatewayError) -> FeedJoin {
        let subject = address.subject(source.join)
        let bytes = try await shared.joins.withPermit(for: address.room) { () async throws(NATSError) in
            try await connection.requestParts(
                request.encoded(), to: subject, timeout: shared.limits.joinTimeout
            ).payload
        }
        if let refusal = RequestError(decoding: bytes) { throw GatewayError(refusal) }
        let reply: JoinReply
        do throws(Rejection) {
            reply = try JoinReply(decoding: bytes)
        } catch {
            throw .badGateway("The service's answer to a join cannot be read.")
        }
        guard reply.room.isEventID else { throw .badGateway("The service's answer has no usable incarnation.") }
        return FeedJoin(
            position: FeedPosition(room: reply.room, index: reply.index), digest: reply.digest,
            gate: reply.gate, content: try content(of: reply, bytes, ticket))
    }

    private func content(
        of reply: JoinReply, _ bytes: [UInt8], _ ticket: Feed.Ticket
    ) throws(GatewayError) -> FeedJoin.Content {
        guard case .tail(let joined) = reply.content else {
            let position = FeedPosition(room: reply.room, index: reply.index)
            let mark = reply.gate.map {
                Mark(
                    room: reply.room, index: reply.index, digest: reply.digest, page: reply.pages.shown, video: nil,
                    gate: $0)
            }
            let lease = try shared.lease(2 * bytes.count, for: address.room)
            let board = StreamEvent.board(bytes, position, mark, lease: lease)
            // Not on an event loop: a large one takes milliseconds.
            board.compress()
            return .board(board)
        }
        let operations: [(ReleasedOperation, BoardDigest)]
        do throws(MalformedRelease) {
            operations = try joined.map { operation throws(MalformedRelease) in
                (try ReleasedOperation(operation), operation.digest ?? reply.digest)
            }
        } catch {
            throw .badGateway("The service's answer to a join cannot be read.")
        }
        guard ticket.isForReaders else { return .operations(operations) }
        let size = operations.reduce(0) { $0 + $1.0.bytes.count + 384 }
        let tail = StreamEvent.operations(
            operations, through: reply.index, room: reply.room, lease: try shared.lease(2 * size, for: address.room))
        tail.compress()
        return .tail(tail)
    }
}

extension String {
    /// Whether it can stand in the id of an event: an incarnation, or none. A line break would begin another field.
    var isEventID: Bool {
        utf8.count <= 256 && utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}
