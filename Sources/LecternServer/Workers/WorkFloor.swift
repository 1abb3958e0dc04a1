import Foundation
import Hosting
import Logging
import NATSClient
import StrokeWire

/// The workers of a server, and what they all share.
struct WorkFloor: Sendable {
    let workers: RoomWorkers
    let metrics = ServerMetrics()
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let replies: Replies
    private let listing: ListingDesk
    private let logger: Logger

    init(_ configuration: ServerConfiguration, _ connection: NATSConnection, _ logger: Logger) {
        self.configuration = configuration
        self.connection = connection
        self.logger = logger
        let count =
            configuration.workers > 0 ? configuration.workers : max(1, ProcessInfo.processInfo.activeProcessorCount)
        workers = RoomWorkers(count: count, capacity: configuration.mailboxBytes)
        let budget = Budget(configuration.replies)
        let joins = ReplyQueue(label: "lectern.joins", budget: budget, connection: connection, logger: logger)
        let pictures = PictureDesk(
            configuration, budget: budget, answers: PictureDesk.Answers(send: joins.send, refuse: joins.refuse))
        replies = Replies(configuration: configuration, joins: joins, pictures: pictures, metrics: metrics)
        let survey = { @Sendable [workers] (found: @escaping @Sendable ([RoomReport]) -> Void) in
            workers.postToAll(.survey(RoomSurvey(workers: workers.all.count, whenDone: found), left: nil))
        }
        listing = ListingDesk(ways: ListingDesk.Ways(survey: survey, send: joins.send, refuse: joins.refuse))
    }

    /// Starts the workers.
    /// - Returns: for each, what finishes when it has ended.
    func start(
        _ journal: any DecisionJournal, keeper: CheckpointKeeper?,
        onPartition: @escaping @Sendable (PartitionProgress) -> Void = { _ in }
    ) -> [AsyncStream<Never>] {
        let fanout = Fanout(connection: connection, maxBytes: configuration.fanoutBytes, logger: logger)
        let places = Budget(configuration.rooms)
        connection.onStateChange { [workers] state in
            workers.postToAll(.output(isOpen: state == .connected))
        }
        return workers.all.enumerated().map { number, worker in
            worker.start(name: "lectern-room-\(number)") { [self] in
                let output = WorkerOutput(
                    configuration: configuration, fanout: fanout, journal: journal, keeper: keeper, metrics: metrics,
                    places: places, worker: worker, onPartition: onPartition, logger: logger)
                return RoomLoop(
                    configuration: configuration, output: output, replies: replies,
                    isOutputOpen: connection.state == .connected)
            }
        }
    }

    /// Listens to clocks and requests.
    func listen() throws(NATSError) {
        let router = SubjectRouter(
            configuration: configuration, workers: workers, listing: listing, refuse: replies.joins.refuse)
        try router.subscribe(on: connection)
    }

    func loadMetrics(misaddressed: @escaping @Sendable () -> Int) -> LoadMetrics {
        LoadMetrics(workers: workers.all, connection: connection, misaddressedCount: misaddressed)
    }

    /// Handles what has arrived, answers what is being answered, and closes the connection.
    func stop(_ ends: [AsyncStream<Never>]) async {
        workers.postToAll(.stop)
        for end in ends { for await _ in end {} }
        replies.close()
        listing.close()
        await connection.drain()
    }
}
