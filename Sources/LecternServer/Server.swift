import Foundation
import Journal
public import Logging
public import NATSClient
public import ServiceLifecycle
import StrokeWire
import Whiteboard

/// The whiteboard service: rooms between teachers who publish and students who follow, over one NATS connection.
///
/// Runs as a service until graceful shutdown: what has arrived by then is handled and published before it returns.
public struct Server: Service {
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let logger: Logger
    private let metrics = ServerMetrics()
    private let onScrape: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let onServing: @Sendable () -> Void

    /// - Parameters:
    ///   - connection: not connected yet; the server connects it and drains it at the end.
    ///   - onScrape: takes what is to be called before metrics are read.
    ///   - onServing: called once, when the service takes messages.
    public init(
        configuration: ServerConfiguration, connection: NATSConnection, logger: Logger,
        onScrape: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in },
        onServing: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.connection = connection
        self.logger = logger
        self.onScrape = onScrape
        self.onServing = onServing
    }

    public func run() async throws {
        let journal = VolatileJournal(
            root: configuration.root, partitions: configuration.partitions, logger: logger)
        let replies = makeReplies()
        let workers = makeWorkers()
        let router = SubjectRouter(configuration: configuration, workers: workers, refuse: replies.joins.refuse)
        let ends = start(workers, journal, replies)
        connection.onStateChange { state in
            for worker in workers { worker.post(.output(isOpen: state == .connected)) }
        }
        try journal.read(from: connection, now: MonotonicClock.now) { record in
            router.worker(for: record.room).post(.record(record))
        }
        try router.subscribe(on: connection)
        await connect()
        onScrape(LoadMetrics(workers: workers, connection: connection, journal: journal).report)
        try? await gracefulShutdown()
        logger.info("draining")
        for worker in workers { worker.post(.stop) }
        for end in ends { for await _ in end {} }
        replies.close()
        await connection.drain()
    }

    /// The daemon may be started before its NATS server: it goes on trying.
    private func connect() async {
        do {
            try await connection.connect(keepTrying: true)
            try await connection.flush()
            onServing()
            logger.info("serving", metadata: ["root": "\(configuration.root)"])
        } catch {
            logger.warning("no NATS server yet, trying on", metadata: ["error": "\(error)"])
        }
    }

    private func makeWorkers() -> [RoomWorker] {
        let count =
            configuration.workers > 0 ? configuration.workers : max(1, ProcessInfo.processInfo.activeProcessorCount)
        return (0..<count).map { _ in RoomWorker(capacity: configuration.mailboxBytes) }
    }

    private func makeReplies() -> Replies {
        let budget = Budget(configuration.replies)
        let joins = ReplyQueue(label: "lectern.joins", budget: budget, connection: connection, logger: logger)
        let pictures = PictureDesk(
            configuration, budget: budget, answers: PictureDesk.Answers(send: joins.send, refuse: joins.refuse))
        return Replies(configuration: configuration, joins: joins, pictures: pictures, metrics: metrics)
    }

    private func start(
        _ workers: [RoomWorker], _ journal: VolatileJournal, _ replies: Replies
    ) -> [AsyncStream<Never>] {
        let fanout = Fanout(connection: connection, maxBytes: configuration.fanoutBytes, logger: logger)
        let budget = Budget(configuration.rooms)
        return workers.enumerated().map { number, worker in
            worker.start(name: "lectern-room-\(number)") { [configuration, connection, logger, metrics] in
                RoomLoop(
                    configuration: configuration, budget: budget, journal: journal, fanout: fanout,
                    replies: replies, metrics: metrics, isOutputOpen: connection.state == .connected, logger: logger)
            }
        }
    }
}
