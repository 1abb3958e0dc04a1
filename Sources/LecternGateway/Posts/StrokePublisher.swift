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
    /// Bytes of a message that the service takes.
    let messageBytes: Int

    /// Publishes messages of one author in their order.
    ///
    /// They go without a `Nats-Msg-Id`: the journal would drop a message that is sent again, and then nothing would tell
    /// what has become of the first one. A repeat changes nothing, and the service answers it.
    func publish(
        _ messages: [ArraySlice<UInt8>], by author: AuthorID, session: String?, to address: RoomAddress
    ) async throws(NATSError) -> StrokeOutcomes {
        let outcomes = Locked(StrokeOutcomes(session: session, messageBytes: min(messageBytes, connection.maxBody)))
        let isComplete = Promise<Void>()
        let headers: NATSHeaders = session.map { [HeaderName.session: $0] } ?? [:]
        let subject = address.subject(.input(author))
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
        if !outcomes.withLock({ $0.isComplete }) { _ = await isComplete.value(within: timeout) }
        return outcomes.withLock { $0 }
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
        let before = counted.exchange(counts)
        for (stream, count) in counts {
            Counter(label: GatewayMetrics.refusedPublishes, dimensions: [("stream", stream)], factory: registry)
                .increment(by: count - before[stream, default: 0])
        }
    }
}
