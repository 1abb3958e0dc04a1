import Locking
import Metrics
import NATSClient

/// How often connections to NATS were lost, read at each scrape.
final class ConnectionMetrics: Sendable {
    private let connections: [(name: String, connection: NATSConnection)]
    private let counters: [[ConnectionLoss: Counter]]
    /// Losses that the counters have.
    private let counted: Locked<[[ConnectionLoss: Int]]>

    /// - Parameter connections: by what they are for.
    init(_ connections: [(name: String, connection: NATSConnection)]) {
        self.connections = connections
        counters = connections.map { name, _ in
            Dictionary(
                uniqueKeysWithValues: ConnectionLoss.allCases.map { loss in
                    (
                        loss,
                        Counter(
                            label: "lectern_nats_disconnects_total",
                            dimensions: [("connection", name), ("cause", loss.rawValue)])
                    )
                })
        }
        counted = Locked(connections.map { _ in [:] })
    }

    @Sendable func report() {
        let losses = connections.map(\.connection.losses)
        let before = counted.withLock { counted in
            defer { counted = losses }
            return counted
        }
        for number in connections.indices {
            for (loss, counter) in counters[number] {
                counter.increment(by: losses[number][loss, default: 0] - before[number][loss, default: 0])
            }
        }
    }
}
