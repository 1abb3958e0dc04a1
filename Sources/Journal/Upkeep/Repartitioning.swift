public import Logging
public import NATSClient
import StrokeWire
import Whiteboard

/// Moves the rooms of a root to another number of partitions, while no daemon of the root runs.
///
/// Records keep their order, bytes, authors, sessions and times, so that every room has the same incarnation, indices,
/// digests and board, also where it is made anew from its log. Checkpoints are moved as they are. Assets do not depend on
/// partitions and are not touched.
///
/// What each step leaves on the server says where to go on after an interruption:
/// 1. The logs capture no more: a publisher gets no acknowledgement, keeps its messages and sends them again.
/// 2. The server copies all streams to `<ROOT>_MOVING_…`, with their sequences and times.
/// 3. When all copies are whole the streams are deleted, and new ones made, which capture moved records alone. They are
///    filled from the copies.
/// 4. When all are full they capture what teachers publish, and the copies are deleted.
///
/// Until the end of step 2 a failure undoes what was done.
public struct Repartitioning: Sendable {
    /// What is told while it runs.
    public enum Progress: Sendable {
        /// Of a stream of some bytes.
        case copying(stream: String, bytes: UInt64)
        /// Everything is copied; from here on only this command, run again, leads on.
        case copied
        case moving(from: String, records: UInt64)
        /// A room whose checkpoint cannot be read. It is made from its log.
        case unreadable(room: String)
        case done(Summary)
    }

    public struct Summary: Sendable, Equatable {
        public var records: UInt64 = 0
        public var checkpoints = 0
    }

    /// Why nothing, or not all, was moved.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case noStreams(root: String)
        case incomplete(missing: String)
        case daemons([String])
        case stalled(copy: String)
        case disturbed(stream: String)
        case same(partitions: Int)
        case foreign(stream: String)

        public var description: String {
            switch self {
            case .noStreams(let root): "there are no streams of the root \(root)"
            case .incomplete(let missing): "\(missing) is missing; restore it first"
            case .daemons(let names): "stop all daemons of the root first: \(names.joined(separator: ", "))"
            case .stalled(let copy): "\(copy) is not filled by the server; has it space for a copy of all streams?"
            case .disturbed(let stream): "something else has written to \(stream); run this again"
            case .foreign(let stream):
                """
                a daemon has made \(stream) while the rooms were moved; stop the daemons, and delete it with what was \
                written to it
                """
            case .same(let partitions): "there are streams of \(partitions) partitions already"
            }
        }
    }

    private let root: String
    private let partitions: Int
    private let connection: NATSConnection
    private let jetStream: JetStream
    private let logger: Logger

    /// - Parameter partitions: the new number, 1 or more.
    public init(
        root: String, partitions: Int, connection: NATSConnection, timeout: Duration = .seconds(10), logger: Logger
    ) {
        self.root = root
        self.partitions = partitions
        self.connection = connection
        self.logger = logger
        jetStream = JetStream(connection, timeout: timeout)
    }

    /// Moves all rooms, or goes on where an earlier run was interrupted.
    /// - Throws: ``Failure``, `JetStreamError`, `JournalError`.
    public func run(_ tell: (Progress) -> Void) async throws {
        try await refuseBesideDaemons()
        let layout = try await Layout(root, jetStream)
        switch layout.step {
        case .none: throw Failure.noStreams(root: root)
        case .incomplete(let missing): throw Failure.incomplete(missing: missing)
        case .disturbed(let stream): throw Failure.foreign(stream: stream)
        case .copy where layout.logs.count == partitions:
            // Perhaps they capture nothing since a run that was interrupted.
            try await undo()
            throw Failure.same(partitions: partitions)
        case .copy:
            do {
                try await copy(layout, tell)
            } catch {
                try? await undo()
                throw error
            }
            try await goOn(try await Layout(root, jetStream), tell)
        case .fill:
            try await goOn(layout, tell)
        case .open:
            try await finish(layout.copies)
            tell(.done(Summary()))
        }
    }

    private func goOn(_ layout: Layout, _ tell: (Progress) -> Void) async throws {
        tell(.copied)
        let summary = try await fill(layout, tell)
        try await finish(layout.copies)
        tell(.done(summary))
    }

    /// How long to listen for daemons, which announce themselves every second.
    private static let listening = Duration.seconds(3)

    private func refuseBesideDaemons() async throws {
        let (names, inlet) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(64))
        let subscription = try connection.subscribe("\(root).members.*") { message in
            inlet.yield(String(message.subject.split(separator: ".").last ?? ""))
        }
        defer { subscription.unsubscribe() }
        try await connection.flush()
        try await Task.sleep(for: Self.listening)
        inlet.finish()
        var heard: Set<String> = []
        for await name in names { heard.insert(name) }
        guard heard.isEmpty else { throw Failure.daemons(heard.sorted()) }
    }
}

// MARK: - What is on the server

extension Repartitioning {
    /// The streams of a root, and the step that they are at.
    private struct Layout {
        struct Log {
            let partition: Int
            let subjects: [String]
            let streams: PartitionStreams

            var isParked: Bool { subjects.contains(Repartitioning.parked(streams)) }
            var isOpen: Bool { streams.records.allSatisfy(subjects.contains) }
            /// Whether it has records that were moved to it.
            var hasMoved: Bool { subjects.contains(streams.moved) }
        }

        enum Step: Equatable {
            case none, copy, fill, open
            case incomplete(missing: String)
            case disturbed(stream: String)
        }

        private(set) var logs: [Log] = []
        /// The streams of the root, without copies.
        private(set) var names: [String] = []
        /// The names of the copies.
        private(set) var copies: [String] = []
        let stem: String

        init(_ root: String, _ jetStream: JetStream) async throws {
            stem = PartitionStreams.stem(root)
            for name in try await jetStream.streamNames(beginningWith: "\(stem)_") {
                let rest = name.dropFirst(stem.count)
                if rest.wholeMatch(of: /_MOVING_(LOG|CHECKPOINT)_[0-9]+/) != nil { copies.append(name) }
                guard let match = rest.wholeMatch(of: /_(LOG|CHECKPOINT)_([0-9]+)/) else { continue }
                names.append(name)
                guard match.1 == "LOG", let partition = Int(match.2) else { continue }
                logs.append(
                    Log(
                        partition: partition, subjects: try await jetStream.streamInfo(name).configuration.subjects,
                        streams: PartitionStreams(root: root, partition: partition)))
            }
            logs.sort { $0.partition < $1.partition }
        }

        /// The number of partitions that the copies are of.
        var copiedPartitions: Int { copies.count { $0.hasPrefix("\(stem)_MOVING_LOG_") } }

        var step: Step {
            if copies.isEmpty {
                guard !logs.isEmpty else { return .none }
                guard let gap = logs.enumerated().first(where: { $0 != $1.partition }) else { return .copy }
                return .incomplete(missing: PartitionStreams(root: gap.element.streams.root, partition: gap.offset).log)
            }
            // All were parked before the first copy was made: one that captures is a new one.
            if let foreign = logs.first(where: { $0.isOpen && !$0.hasMoved }) {
                return .disturbed(stream: foreign.streams.log)
            }
            // All are full when the first is opened.
            if logs.contains(where: \.isOpen) { return .open }
            let isWhole = !logs.isEmpty && logs.allSatisfy(\.isParked) && logs.count >= copiedPartitions
            return isWhole ? .copy : .fill
        }
    }

    /// The only subject of a log that captures nothing; no room's name has capitals.
    private static func parked(_ streams: PartitionStreams) -> String {
        "\(streams.root).\(streams.partition).PARKED.log"
    }

    private func streams(_ partition: Int, areCopies: Bool = false) -> PartitionStreams {
        PartitionStreams(root: root, partition: partition, areCopies: areCopies)
    }
}

// MARK: - Copying

extension Repartitioning {
    /// The longest time in which a copy does not grow.
    private static let copyTimeout = Duration.seconds(60)

    private func copy(_ layout: Layout, _ tell: (Progress) -> Void) async throws {
        for log in layout.logs where !log.isParked {
            let kept = log.hasMoved ? [log.streams.moved] : []
            try await jetStream.capture([Self.parked(log.streams)] + kept, by: log.streams.log)
        }
        for log in layout.logs {
            let copies = streams(log.partition, areCopies: true)
            let prefix = StreamIdentity(.log, of: try await jetStream.streamInfo(log.streams.log)).text
            for (stream, copy) in [(log.streams.checkpoint, copies.checkpoint), (log.streams.log, copies.log)]
            where layout.names.contains(stream) {
                if !layout.copies.contains(copy) { try await jetStream.copy(stream, to: copy, note: prefix) }
                try await waitUntilWhole(copy, of: stream, tell)
            }
            // A checkpoint of a newer release must not be met when the streams are gone.
            guard layout.names.contains(log.streams.checkpoint) else { continue }
            _ = try await oldStore().catalogue(of: log.partition, log: prefix)
        }
    }

    private func waitUntilWhole(_ copy: String, of stream: String, _ tell: (Progress) -> Void) async throws {
        var last: UInt64?
        var since = ContinuousClock.now
        while true {
            // Messages may expire meanwhile.
            let original = try await jetStream.streamInfo(stream)
            let info = try await jetStream.streamInfo(copy)
            if last == nil { tell(.copying(stream: stream, bytes: original.bytes)) }
            if info.messages >= original.messages { return }
            if info.messages != last { (last, since) = (info.messages, .now) }
            guard since.duration(to: .now) < Self.copyTimeout else { throw Failure.stalled(copy: copy) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func undo() async throws {
        let layout = try await Layout(root, jetStream)
        for copy in layout.copies { try await jetStream.delete(copy) }
        for log in layout.logs where log.isParked { try await open(log.partition, moved: log.hasMoved) }
    }

    private func open(_ partition: Int, moved: Bool) async throws {
        let streams = streams(partition)
        try await jetStream.capture(streams.records + (moved ? [streams.moved] : []), by: streams.log)
    }
}

// MARK: - Filling

extension Repartitioning {
    /// A room's checkpoint, with the sequences that its records have in the new log.
    private struct MovedRoom {
        let manifest: CheckpointManifest
        var sequence: UInt64 = 1
        var handled: UInt64 = 1
        /// The last record in its older state.
        var older: UInt64 = 1

        mutating func note(_ record: UInt64, is sequence: UInt64) {
            if record <= manifest.sequence { self.sequence = sequence }
            if record <= manifest.handled { handled = sequence }
            if record <= manifest.previous?.sequence ?? 0 { older = sequence }
        }
    }

    /// A new partition while it is filled.
    private struct Target {
        let writer: RecordWriter
        /// All records through this one are in checkpoints.
        var covered: UInt64?
        /// Whether rooms have to be made from all of the log.
        var isDamaged = false
    }

    private func fill(_ layout: Layout, _ tell: (Progress) -> Void) async throws -> Summary {
        for name in layout.names { try await jetStream.delete(name) }
        let model = streams(0, areCopies: true)
        var targets: [Target] = []
        for partition in 0..<partitions {
            let new = streams(partition)
            if layout.copies.contains(model.checkpoint) {
                try await jetStream.create(
                    new.checkpoint, capturing: [new.manifests, "\(new.manifests).>"], like: model.checkpoint)
            }
            try await jetStream.create(
                new.log, capturing: [new.moved], like: model.log,
                note: StreamIdentity(.log, of: partitions).description)
            let writer = RecordWriter(to: new, jetStream)
            _ = try await writer.write([], to: new.movedMark, headers: [:])
            targets.append(Target(writer: writer))
        }
        var summary = Summary()
        for partition in 0..<layout.copiedPartitions {
            let (records, rooms) = try await moveRecords(of: partition, layout, to: &targets, tell)
            summary.records += records
            for target in targets { try await target.writer.confirm() }
            summary.checkpoints += try await moveCheckpoints(rooms, of: partition, to: &targets, tell)
        }
        let store = CheckpointStore(root: root, partitions: partitions, connection: connection, logger: logger)
        for (partition, target) in targets.enumerated() where !target.isDamaged && summary.checkpoints > 0 {
            try await store.save(
                covered: target.covered ?? target.writer.sequence, of: partition, log: try await prefix(of: partition))
        }
        return summary
    }

    private func prefix(of partition: Int) async throws -> String {
        StreamIdentity(.log, of: try await jetStream.streamInfo(streams(partition).log)).text
    }

    private func oldStore() -> CheckpointStore {
        CheckpointStore(
            root: root, partitions: 1, readsCopies: true, connection: connection, timeout: jetStream.timeout,
            logger: logger)
    }

    /// Moves the records of a log, in their order.
    /// - Returns: how many, and the rooms that have checkpoints.
    private func moveRecords(
        of partition: Int, _ layout: Layout, to targets: inout [Target], _ tell: (Progress) -> Void
    ) async throws -> (UInt64, [RoomID: MovedRoom]) {
        let copies = streams(partition, areCopies: true)
        let log = try await jetStream.note(of: copies.log)
        let catalogue =
            layout.copies.contains(copies.checkpoint)
            ? try await oldStore().catalogue(of: partition, log: log) : CheckpointCatalogue()
        var rooms = catalogue.rooms.mapValues { MovedRoom(manifest: $0) }
        for room in catalogue.damaged + catalogue.outdated {
            tell(.unreadable(room: room.text))
            targets[RoomAddress.partition(of: room, among: partitions)].isDamaged = true
        }
        tell(.moving(from: copies.log, records: try await jetStream.streamInfo(copies.log).messages))
        var count: UInt64 = 0
        let reader = try CopyReader(copies, log, layout.copiedPartitions, jetStream, logger)
        defer { reader.cancel() }
        for await event in reader.events {
            let (record, sequence): (CopyReader.Record, UInt64)
            switch event {
            case .record(let next, let place): (record, sequence) = (next, place)
            case .barrier(let barrier):
                barrier.pass()
                continue
            case .end: return (count, rooms)
            case .failed: throw Failure.disturbed(stream: copies.log)
            }
            guard let subject = record.moved.subject else { continue }
            let room = subject.address.room
            let place = RoomAddress.partition(of: room, among: partitions)
            let new = streams(place)
            var headers: NATSHeaders = [MovedRecord.header: record.moved.headerValue]
            if let session = record.session { headers.append(HeaderName.session, session) }
            let written = try await targets[place].writer.write(
                record.bytes, to: new.moved(of: room) + MovedRecord.suffix(subject), headers: headers)
            rooms[room]?.note(sequence, is: written)
            if sequence > catalogue.covered, targets[place].covered == nil { targets[place].covered = written - 1 }
            count += 1
        }
        throw Failure.disturbed(stream: copies.log)
    }

    private func moveCheckpoints(
        _ rooms: [RoomID: MovedRoom], of partition: Int, to targets: inout [Target], _ tell: (Progress) -> Void
    ) async throws -> Int {
        let store = CheckpointStore(root: root, partitions: partitions, connection: connection, logger: logger)
        let old = oldStore()
        var prefixes: [Int: String] = [:]
        for (room, moved) in rooms.sorted(by: { $0.key < $1.key }) {
            let place = RoomAddress.partition(of: room, among: partitions)
            if prefixes[place] == nil { prefixes[place] = try await prefix(of: place) }
            var manifest = moved.manifest
            manifest.log = prefixes[place] ?? ""
            (manifest.sequence, manifest.handled, manifest.previous) = (moved.sequence, moved.handled, nil)
            var isReadable = manifest.state == nil
            for generation in moved.manifest.generations {
                guard let bytes = try await old.bytes(of: generation.state, room: room, in: partition) else { continue }
                manifest.state = try await store.save(state: bytes, room: room, beside: nil)
                if generation.state != moved.manifest.state {
                    manifest.sequence = moved.older
                    // Its records after that are read again.
                    targets[place].isDamaged = true
                }
                isReadable = true
                break
            }
            guard isReadable else {
                tell(.unreadable(room: room.text))
                targets[place].isDamaged = true
                continue
            }
            try await store.save(manifest)
        }
        return rooms.count
    }

    /// Has the new logs capture what teachers publish, and deletes the copies.
    private func finish(_ copies: [String]) async throws {
        for log in try await Layout(root, jetStream).logs where !log.isOpen {
            try await open(log.partition, moved: true)
        }
        for copy in copies { try await jetStream.delete(copy) }
    }
}
