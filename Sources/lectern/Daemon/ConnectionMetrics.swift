import Locking
import Metrics
import NATSClient

/// The state of the process's connections to NATS, read at each scrape.
final class ConnectionMetrics: Sendable {
    private let connections: [(name: String, connection: NATSConnection)]
    private let counters: [[ConnectionLoss: Counter]]
    private let connected = Meter(label: "lectern_nats_connected")
    private let dropped = Counter(label: "lectern_nats_dropped_total")
    /// Losses and dropped messages that the counters have.
    private let counted: Locked<(losses: [[ConnectionLoss: Int]], dropped: Int)>

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
        counted = Locked((connections.map { _ in [:] }, 0))
    }

    @Sendable func report() {
        let losses = connections.map(\.connection.losses)
        let drops = connections.reduce(0) { $0 + $1.connection.droppedMessages }
        let before = counted.exchange((losses, drops))
        connected.set(connections.allSatisfy { $0.connection.state == .connected } ? 1 : 0)
        dropped.increment(by: drops - before.dropped)
        for number in connections.indices {
            for (loss, counter) in counters[number] {
                counter.increment(by: losses[number][loss, default: 0] - before.losses[number][loss, default: 0])
            }
        }
    }
}
