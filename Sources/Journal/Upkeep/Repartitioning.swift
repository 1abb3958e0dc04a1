public import Logging
public import NATSClient
import StrokeWire

/// Moves the rooms of a root to another number of partitions, while no daemon of the root runs.
///
/// Records keep their order, bytes, authors, sessions and times, so that every room has the same incarnation, indices,
/// digests and board, also where it is made anew from its log. Checkpoints are moved as they are. Assets do not depend on
/// partitions and are not touched.
///
/// What each step leaves on the server says where to go on after an interruption (``RepartitionLayout``):
/// 1. The logs capture no more: a publisher gets no acknowledgement, keeps its messages and sends them again.
/// 2. The server copies all streams to `<ROOT>_MOVING_…`, with their sequences and times.
/// 3. The records in the copies are measured: the new logs get room for them, or nothing is moved.
/// 4. The streams are deleted, and new ones made, which capture moved records alone. They are filled from the copies.
/// 5. When all are full they capture what teachers publish, and the copies are deleted.
///
/// Until the first stream is deleted a failure undoes what was done.
public struct Repartitioning: Sendable {
    /// A progress report.
    public enum Progress: Sendable {
        /// A move that was interrupted at its end is finished.
        case finished(partitions: Int)
        /// A move that was interrupted before its end is undone: the rooms are in so many partitions as before.
        case undone(partitions: Int)
        /// Of a stream of some bytes.
        case copying(stream: String, bytes: UInt64)
        case measuring(copy: String)
        /// Everything is copied, and the new streams have space; from here on only this command, run again, leads on.
        case copied
        /// A new stream gets a higher `max_bytes` than the others had.
        case raised(stream: String, maxBytes: Int64)
        case moving(from: String, records: UInt64)
        /// A room whose checkpoint cannot be read. It is made from its log.
        case unreadable(room: String)
        case done(Summary)
    }

    /// The number of records and checkpoints that were moved.
    public struct Summary: Sendable, Equatable {
        public var records: UInt64 = 0
        public var checkpoints = 0
    }

    /// Why nothing, or not all, was moved.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case noStreams(root: String)
        case incomplete(missing: String)
        case orphan(checkpoints: String, log: String)
        case daemons([String])
        /// Another move of the root goes on.
        case running
        case stalled(copy: String)
        case disturbed(stream: String)
        case same(partitions: Int)
        case foreign(stream: String)
        /// - Parameter bytes: those that are missing.
        case noSpace(bytes: UInt64)
        case full(reason: String)
        /// A log has lost its end, and not all rooms were saved since.
        case unrepaired(log: String)
        case notUndone(cause: String, undo: String)
        case tooLarge(copy: String, sequence: UInt64, bytes: Int, limit: Int)

        public var description: String {
            switch self {
            case .noStreams(let root): "there are no logs of the root \(root)"
            case .incomplete(let missing): "\(missing) is missing; restore it first"
            case .orphan(let checkpoints, let log):
                "there is \(checkpoints) without \(log); restore the log, or delete the checkpoints"
            case .daemons(let names): "stop all daemons of the root first: \(names.joined(separator: ", "))"
            case .running: "another lectern repartition of the root runs; wait until it has ended"
            case .stalled(let copy): "\(copy) is not filled by the server; has it space for a copy of all streams?"
            case .disturbed(let stream): "\(stream) does not hold what was written to it; run this again"
            case .foreign(let stream):
                """
                a daemon has made \(stream) while the rooms were moved; stop the daemons, and delete it with what was \
                written to it
                """
            case .same(let partitions): "the number of partitions is \(partitions) already"
            case .noSpace(let bytes):
                """
                JetStream lacks space for the new streams, \(bytes / 1_000_000 + 1) MB by its limits; raise those of the \
                account or of the server, delete other streams, or take fewer partitions, and run this again
                """
            case .unrepaired(let log):
                """
                \(log) has lost its end, and its rooms are not saved since; start the daemons, wait until they serve, stop them, \
                and run this again
                """
            case .notUndone(let cause, let undo):
                """
                \(cause); the logs could not be put back (\(undo)), and take no records before this is run again
                """
            case .full(let reason):
                """
                JetStream has no space for more moved records: \(reason); raise its limits, or delete other streams, and \
                run this again: it goes on from the copies
                """
            case .tooLarge(let copy, let sequence, let bytes, let limit):
                """
                record \(sequence) of \(copy) has \(bytes) bytes with the header of a moved one, and the server takes \
                \(limit); raise its max_payload, and run this again
                """
            }
        }

        /// What went wrong while streams were filled.
        init?(_ error: any Error) {
            let reason: JetStreamError
            switch error {
            case let error as JetStreamError: reason = error
            case JournalError.stream(_, let error): reason = error
            default: return nil
            }
            guard reason.isFull else { return nil }
            self = .full(reason: "\(reason)")
        }
    }

    private let root: String
    private let partitions: Int
    private let connection: NATSConnection
    private let jetStream: JetStream
    private let logger: Logger
    /// What it announces itself as, beside the daemons; no daemon's name has capitals.
    private let name = "\(Self.namePrefix)\(String(UInt64.random(in: .min ... .max), radix: 36))"
    private static let namePrefix = "MOVING-"

    /// - Parameter partitions: the new number, 1 or more.
    public init(root: String, partitions: Int, connection: NATSConnection, logger: Logger) {
        self.root = root
        self.partitions = partitions
        self.connection = connection
        self.logger = logger
        jetStream = JetStream(connection, timeout: .seconds(10))
    }

    /// Moves all rooms, or goes on where an earlier run was interrupted.
    /// - Throws: ``Failure``, `JetStreamError`, `JournalError`.
    public func run(_ onProgress: (Progress) -> Void) async throws {
        // Before it listens: of two that begin at the same time both refuse.
        let announcing = Task {
            while !Task.isCancelled {
                try? connection.publish([], to: "\(root).members.\(name)")
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer { announcing.cancel() }
        try await refuseBesideOthers()
        var layout = try await RepartitionLayout(root, jetStream)
        if layout.step == .finish {
            try await finish()
            onProgress(.finished(partitions: layout.logs.count))
            guard layout.logs.count != partitions else { return }
            layout = try await RepartitionLayout(root, jetStream)
        }
        let copier = StreamCopier(root: root, jetStream: jetStream, logger: logger)
        switch layout.step {
        case .none: throw Failure.noStreams(root: root)
        case .refused(let failure): throw failure
        case .copy where layout.logs.count == partitions:
            guard layout.isBegun else { throw Failure.same(partitions: partitions) }
            try await copier.undo()
            onProgress(.undone(partitions: partitions))
        case .copy:
            let plan: RepartitionPlan
            do {
                try await copier.copy(layout, onProgress)
                layout = try await RepartitionLayout(root, jetStream)
                plan = try await makePlan(layout, onProgress)
            } catch {
                do {
                    try await copier.undo()
                } catch let undo {
                    throw Failure.notUndone(cause: "\(error)", undo: "\(undo)")
                }
                throw error
            }
            try await move(plan, layout, onProgress)
        case .fill, .finish:
            try await move(try await makePlan(layout, onProgress), layout, onProgress)
        }
    }

    private func makePlan(_ layout: RepartitionLayout, _ onProgress: (Progress) -> Void) async throws
        -> RepartitionPlan
    {
        let plan = try await RepartitionPlan(layout, to: partitions, jetStream, logger, onProgress)
        try await plan.checkSpace(replacing: layout, jetStream)
        return plan
    }

    private func move(
        _ plan: RepartitionPlan, _ layout: RepartitionLayout, _ onProgress: (Progress) -> Void
    ) async throws {
        onProgress(.copied)
        for name in layout.names {
            // This process may have been stopped while another one did the work: then there are no copies any more.
            guard try await RepartitionLayout(root, jetStream).copies == layout.copies else {
                throw Failure.disturbed(stream: name)
            }
            try await jetStream.delete(name)
        }
        var filler = PartitionFiller(root: root, plan: plan, jetStream: jetStream, logger: logger)
        let summary: Summary
        do {
            summary = try await filler.fill(onProgress)
            try await filler.check()
        } catch {
            throw Failure(error) ?? error
        }
        try await finish()
        onProgress(.done(summary))
    }

    /// Has the new logs capture what teachers publish, and deletes the copies.
    private func finish() async throws {
        let layout = try await RepartitionLayout(root, jetStream)
        for log in layout.logs where !log.isOpen { try await log.open(hasMoved: true, jetStream) }
        for copy in layout.leftovers + layout.copies { try await jetStream.delete(copy) }
    }

    /// How long to listen for daemons, which announce themselves every second.
    private static let listening = Duration.seconds(3)

    private func refuseBesideOthers() async throws {
        let (names, inlet) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(64))
        let subscription = try connection.subscribe("\(root).members.*") { [name] message in
            let other = message.subject.split(separator: ".").last ?? ""
            if other != name { inlet.yield(String(other)) }
        }
        defer { subscription.unsubscribe() }
        try await connection.flush()
        try await Task.sleep(for: Self.listening)
        inlet.finish()
        var heard: Set<String> = []
        for await name in names { heard.insert(name) }
        guard !heard.contains(where: { $0.hasPrefix(Self.namePrefix) }) else { throw Failure.running }
        guard heard.isEmpty else { throw Failure.daemons(heard.sorted()) }
    }
}
