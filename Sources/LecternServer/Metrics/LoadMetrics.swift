import Metrics
import NATSClient

/// What is read when somebody looks, not counted as it happens.
struct LoadMetrics: Sendable {
    let workers: [RoomWorker]
    let connection: NATSConnection
    let misaddressedCount: @Sendable () -> Int
    private let waiting = Meter(label: "lectern_mailbox_bytes")
    private let dropped = Counter(label: "lectern_mailbox_dropped_total")
    private let misaddressed = Counter(label: "lectern_misaddressed_total")
    private let slowConsumer = Counter(label: "lectern_nats_dropped_total")
    /// Drops that the counters know of.
    private let reported = Locked<(mailbox: Int, nats: Int, misaddressed: Int)>((0, 0, 0))
    private let connected = Meter(label: "lectern_nats_connected")

    init(workers: [RoomWorker], connection: NATSConnection, misaddressedCount: @escaping @Sendable () -> Int) {
        self.workers = workers
        self.connection = connection
        self.misaddressedCount = misaddressedCount
    }

    func report() {
        let loads = workers.map(\.load)
        waiting.set(loads.reduce(0) { $0 + $1.bytes })
        let now = (
            mailbox: loads.reduce(0) { $0 + $1.dropped }, nats: connection.droppedMessages,
            misaddressed: misaddressedCount()
        )
        let before = reported.withLock { reported in
            defer { reported = now }
            return reported
        }
        dropped.increment(by: now.mailbox - before.mailbox)
        slowConsumer.increment(by: now.nats - before.nats)
        misaddressed.increment(by: now.misaddressed - before.misaddressed)
        connected.set(connection.state == .connected ? 1 : 0)
    }
}
