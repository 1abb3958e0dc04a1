import Metrics
import NATSClient

/// What is read when somebody looks, not counted as it happens.
struct LoadMetrics: Sendable {
    let workers: [RoomWorker]
    let connection: NATSConnection
    private let waiting = Meter(label: "lectern_mailbox_bytes")
    private let dropped = Meter(label: "lectern_mailbox_dropped")
    private let slowConsumer = Meter(label: "lectern_nats_dropped")
    private let connected = Meter(label: "lectern_nats_connected")

    init(workers: [RoomWorker], connection: NATSConnection) {
        self.workers = workers
        self.connection = connection
    }

    func report() {
        let loads = workers.map(\.load)
        waiting.set(loads.reduce(0) { $0 + $1.bytes })
        dropped.set(loads.reduce(0) { $0 + $1.dropped })
        slowConsumer.set(connection.droppedMessages)
        connected.set(connection.state == .connected ? 1 : 0)
    }
}
