import Hosting
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Makes the streams of a new number of partitions and fills them from copies.
struct PartitionFiller {
    private let root: String
    private let plan: RepartitionPlan
    private let jetStream: JetStream
    private let logger: Logger
    private let store: CheckpointStore
    private let copies: CheckpointStore
    private var targets: [Target] = []

    /// A room's checkpoint, with the sequences that its records have in the new log.
    private struct MovedRoom {
        let manifest: CheckpointManifest
        /// In the new log: `manifest.sequence`, `manifest.handled`, `manifest.previous.sequence`.
        var sequence: UInt64 = 1
        var handled: UInt64 = 1
        var previous: UInt64 = 1

        mutating func place(_ record: UInt64, at sequence: UInt64) {
            if record <= manifest.sequence { self.sequence = sequence }
            if record <= manifest.handled { handled = sequence }
            if record <= manifest.previous?.sequence ?? 0 { previous = sequence }
        }
    }

    /// A decision to erase a room that is noted beside the log, with its place in the new one. Where the log has given back the
    /// decision and all that came before it, that is the place of the mark.
    private struct MovedErasure {
        var note: StoredRoomDeletion.Note
        private let sequence: UInt64

        init(note: StoredRoomDeletion.Note) {
            self.note = note
            sequence = note.sequence
            self.note.sequence = 1
        }

        mutating func place(_ record: UInt64, at sequence: UInt64) {
            if record <= self.sequence { note.sequence = sequence }
        }
    }

    /// A new partition while it is filled.
    private struct Target {
        let writer: RecordWriter
        /// The incarnation prefix of its log.
        let prefix: String
        /// All records through this one are in checkpoints.
        var covered: UInt64?
        /// Whether rooms have to be made from all of the log.
        var isDamaged = false
    }

    init(root: String, plan: RepartitionPlan, jetStream: JetStream, logger: Logger) {
        self.root = root
        self.plan = plan
        self.jetStream = jetStream
        self.logger = logger
        store = CheckpointStore(
            root: root, partitions: plan.partitions, connection: jetStream.connection, timeout: jetStream.timeout,
            logger: logger)
        copies = CheckpointStore.copies(root: root, jetStream, logger)
    }

    /// - Precondition: there are no streams of the root but the copies.
    mutating func fill(_ onProgress: (Repartitioning.Progress) -> Void) async throws -> Repartitioning.Summary {
        for partition in 0..<plan.partitions { try await create(partition, onProgress) }
        var summary = Repartitioning.Summary()
        for source in plan.sources {
            onProgress(.moving(from: source.streams.log, records: source.records))
            let rooms = try await moveRecords(of: source, onProgress)
            summary.records += source.records
            for target in targets { try await target.writer.confirm() }
            summary.checkpoints += try await moveCheckpoints(rooms, of: source, onProgress)
        }
        for (partition, target) in targets.enumerated() where !target.isDamaged && summary.checkpoints > 0 {
            try await store.save(
                covered: target.covered ?? target.writer.sequence, of: partition, log: target.prefix)
        }
        return summary
    }

    /// Makes sure that the logs are those that it has made and filled, before the copies are deleted.
    func check() async throws {
        for (partition, target) in targets.enumerated() {
            let log = PartitionStreams(root: root, partition: partition).log
            let info = try await jetStream.streamInfo(log)
            guard StreamIdentity(.log, of: info).text == target.prefix, info.lastSequence == target.writer.sequence
            else { throw Repartitioning.Failure.disturbed(stream: log) }
        }
    }

    /// Makes the streams of a partition.
    private mutating func create(
        _ partition: Int, _ onProgress: (Repartitioning.Progress) -> Void
    ) async throws {
        let streams = PartitionStreams(root: root, partition: partition)
        var log = plan.logs[partition]
        log.description = StreamIdentity(.log, of: plan.partitions).description
        var wanted = [(log, plan.log)]
        if let original = plan.checkpoint { wanted.append((plan.checkpoints[partition], original)) }
        // The log first: beside checkpoints alone a daemon would make an open one.
        for (stream, original) in wanted {
            try await jetStream.create(stream, like: original)
            if stream.maxBytes > original.configuration.maxBytes {
                onProgress(.raised(stream: stream.name, maxBytes: stream.maxBytes))
            }
        }
        let writer = RecordWriter(to: streams, jetStream)
        _ = try await writer.write([], to: streams.movedMark, headers: [:])
        let prefix = StreamIdentity(.log, of: try await jetStream.streamInfo(streams.log)).text
        targets.append(Target(writer: writer, prefix: prefix))
    }

    /// Moves the records of a log, in their order, and the notes of decisions to erase rooms.
    /// - Returns: the rooms that have checkpoints.
    private mutating func moveRecords(
        of source: RepartitionPlan.Source, _ onProgress: (Repartitioning.Progress) -> Void
    ) async throws -> [RoomID: MovedRoom] {
        let catalogue =
            source.hasCheckpoints
            ? try await copies.catalogue(of: source.streams.partition, log: source.prefix) : CheckpointCatalogue()
        var rooms = catalogue.rooms.mapValues { MovedRoom(manifest: $0) }
        var erasures = catalogue.erasures.mapValues { $0.map { MovedErasure(note: $0) } }
        for room in catalogue.damaged + catalogue.outdated {
            onProgress(.unreadable(room: room.text))
            targets[RoomAddress.partition(of: room, among: plan.partitions)].isDamaged = true
        }
        try await jetStream.readCopy(source.streams, log: source.prefix, among: plan.sources.count, logger) { record in
            let sequence = record.sequence
            guard let message = MovedMessage(record, root: root, partitions: plan.partitions) else { return }
            let place = message.partition
            let written = try await targets[place].writer.write(
                message.payload, to: message.subject, headers: message.headers)
            rooms[message.room]?.place(sequence, at: written)
            for number in (erasures[message.room] ?? []).indices {
                erasures[message.room]?[number].place(sequence, at: written)
            }
            if sequence > catalogue.covered, targets[place].covered == nil { targets[place].covered = written - 1 }
        }
        for (room, moved) in erasures {
            let streams = PartitionStreams(
                root: root, partition: RoomAddress.partition(of: room, among: plan.partitions))
            for var note in moved.map(\.note) {
                note.log = targets[streams.partition].prefix
                _ = try await jetStream.publish(
                    HashedJSON.encode(note), to: streams.decision(on: room, by: note.command))
            }
        }
        return rooms
    }

    private mutating func moveCheckpoints(
        _ rooms: [RoomID: MovedRoom], of source: RepartitionPlan.Source,
        _ onProgress: (Repartitioning.Progress) -> Void
    ) async throws -> Int {
        for (room, moved) in rooms.sorted(by: { $0.key < $1.key }) {
            let place = RoomAddress.partition(of: room, among: plan.partitions)
            var manifest = moved.manifest
            manifest.log = targets[place].prefix
            (manifest.sequence, manifest.handled, manifest.previous) = (moved.sequence, moved.handled, nil)
            // The stream has another time of a record that was moved to it.
            manifest.handledAt = nil
            var isReadable = manifest.state == nil
            for generation in moved.manifest.generations {
                guard
                    let bytes = try await copies.bytes(
                        of: generation.state, room: room, in: source.streams.partition)
                else { continue }
                manifest.state = try await store.save(state: bytes, room: room, beside: nil)
                if generation.state != moved.manifest.state {
                    manifest.sequence = moved.previous
                    // That of the state which cannot be read: records until then would seem to be held.
                    manifest.loggedAt = nil
                    // Its records after that are read again.
                    targets[place].isDamaged = true
                }
                isReadable = true
                break
            }
            guard isReadable else {
                onProgress(.unreadable(room: room.text))
                targets[place].isDamaged = true
                continue
            }
            try await store.save(manifest)
        }
        return rooms.count
    }
}
