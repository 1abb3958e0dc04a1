internal import Locking
internal import Metrics
internal import NATSClient
internal import StrokeWire

/// Publishes strokes that came over HTTP, and waits for what the service says of them.
struct StrokePublisher: Sendable {
    let connection: NATSConnection
    /// Time for the service to say something of every message.
    let timeout: Duration
    /// Gets JetStream's answers to the messages.
    let refused: RefusedPublishes

    /// Publishes messages of one author in their order.
    ///
    /// They go without a `Nats-Msg-Id`: the journal would drop a message that is sent again, and then nothing would tell
    /// what has become of the first one. A repeat changes nothing, and the service answers it.
    func publish(
        _ messages: [ArraySlice<UInt8>], by author: AuthorID, session: String?, to address: RoomAddress
    ) async throws(GatewayError) -> StrokeOutcomes {
        let outcomes = Locked(StrokeOutcomes(session: session))
        let isComplete = Promise<Void>()
        let headers: NATSHeaders = session.map { [HeaderName.session: $0] } ?? [:]
        let subject = address.subject(.input(author))
        do throws(NATSError) {
            // The server has the subscription before it gets the first message.
            let subscription = try connection.subscribe(address.subject(.feedback(author))) { message in
                guard let feedback = try? FeedbackMessage(decoding: message.copyPayload()) else { return }
                let isDone = outcomes.withLock { outcomes in
                    outcomes.receive(feedback)
                    return outcomes.isComplete
                }
                if isDone { isComplete.fulfil(.success(())) }
            }
            defer { subscription.unsubscribe() }
            // All are known before the first feedback can come.
            let published = outcomes.withLock { outcomes in messages.filter { outcomes.add(Array($0)) } }
            for message in published {
                try connection.publish(Array(message), to: subject, reply: refused.reply, headers: headers)
            }
            if outcomes.withLock({ $0.isComplete }) { return outcomes.withLock { $0 } }
            _ = await isComplete.value(within: timeout)
            return outcomes.withLock { $0 }
        } catch {
            throw GatewayError(error)
        }
    }
}

/// Strokes that JetStream has refused, as metrics, read at each scrape. Their authors get no feedback, and send them again.
final class RefusalMetrics: Sendable {
    private let refused: RefusedPublishes
    private let registry: PrometheusRegistry
    /// Refusals that the counters have.
    private let counted = Locked<[String: Int]>([:])

    init(_ refused: RefusedPublishes, registry: PrometheusRegistry) {
        self.refused = refused
        self.registry = registry
    }

    @Sendable func report() {
        let counts = refused.counts
        let before = counted.withLock { counted in
            defer { counted = counts }
            return counted
        }
        for (stream, count) in counts {
            Counter(label: GatewayMetrics.refusedPublishes, dimensions: [("stream", stream)], factory: registry)
                .increment(by: count - before[stream, default: 0])
        }
    }
}

/// How much each author may send, so that the service does not have to refuse what it would then have settled: the
/// service's own limits, by author, in this gateway.
final class AuthorRates: Sendable {
    private struct Bucket {
        var messages: Double
        var bytes: Double
        var updated: ContinuousClock.Instant
    }

    private struct State {
        var authors: [AuthorID: [RoomAddress: Bucket]] = [:]
        var count = 0

        /// Forgets those who have not sent for as long as it takes to fill a bucket: they would get a full one.
        mutating func forget(_ author: AuthorID, at now: ContinuousClock.Instant) {
            guard let rooms = authors[author] else { return }
            let left = rooms.filter { now - $0.value.updated < .seconds(2) }
            count -= rooms.count - left.count
            authors[author] = left.isEmpty ? nil : left
        }
    }

    /// Authors in rooms that are kept.
    private static let bound = 10_000
    /// Of them those of one author, who may write in any number of rooms; beyond, this author alone is refused.
    static let roomsOfAuthor = 100
    private static let messagesPerSecond = 200.0
    /// Messages that an author may send at once.
    static let burst = 400
    private static let bytesPerSecond = Double(1 << 20)

    private let state = Locked(State())

    /// Takes the messages of one request, all or none.
    /// - Returns: nil when they were taken, else after how many seconds to come again.
    func take(_ messages: Int, bytes: Int, of author: AuthorID, in room: RoomAddress) -> Int? {
        let now = ContinuousClock.now
        return state.withLock { state in
            let known = state.authors[author]?[room]
            if known == nil {
                if state.authors[author]?.count ?? 0 >= Self.roomsOfAuthor { state.forget(author, at: now) }
                guard state.authors[author]?.count ?? 0 < Self.roomsOfAuthor else { return 1 }
                if state.count >= Self.bound { for author in state.authors.keys { state.forget(author, at: now) } }
                guard state.count < Self.bound else { return 1 }
                state.count += 1
            }
            var bucket =
                known
                ?? Bucket(
                    messages: Double(Self.burst), bytes: 2 * Self.bytesPerSecond, updated: now)
            let seconds = (now - bucket.updated) / .seconds(1)
            bucket.messages = min(
                Double(Self.burst), bucket.messages + seconds * Self.messagesPerSecond)
            bucket.bytes = min(2 * Self.bytesPerSecond, bucket.bytes + seconds * Self.bytesPerSecond)
            bucket.updated = now
            defer { state.authors[author, default: [:]][room] = bucket }
            let missing = max(
                (Double(messages) - bucket.messages) / Self.messagesPerSecond,
                (Double(bytes) - bucket.bytes) / Self.bytesPerSecond)
            guard missing <= 0 else { return Int(missing.rounded(.up)) }
            bucket.messages -= Double(messages)
            bucket.bytes -= Double(bytes)
            return nil
        }
    }
}
