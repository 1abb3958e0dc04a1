import Logging
import NATSClient
import StrokeWire

extension CheckpointStore {
    /// The best manifest of every room of a partition: of those that are kept and can be used the one that holds most,
    /// whoever wrote it last. Rooms of which one is damaged are listed, and those of which none can be used.
    ///
    /// Takes memory for three manifests a room.
    /// - Parameter log: the log that is there, by its `incarnationPrefix`: what is of another one, which was deleted and
    ///   made again and counts from 1 again, is only counted.
    /// - Throws: `.stream`, also when the stream does not come to an end within `timeout`.
    public func catalogue(
        of partition: Int, log: String, timeout: Duration = .seconds(60)
    ) async throws(JournalError) -> CheckpointCatalogue {
        let streams = streams(of: partition)
        var catalogue = CheckpointCatalogue()
        for (subject, bodies) in try await manifests(in: streams, timeout) {
            if subject == streams.coverage {
                let coverages = bodies.compactMap(Coverage.init(decoding:))
                catalogue.covered = coverages.filter { $0.log == log }.map(\.covered).max() ?? 0
                continue
            }
            guard let room = streams.room(ofManifest: subject) else { continue }
            let manifests = Self.readable(bodies, of: room)
            let usable = manifests.filter { $0.log == log }
            guard !usable.isEmpty || manifests.isEmpty else {
                catalogue.foreign += 1
                continue
            }
            if manifests.count < bodies.count {
                logger.warning("a checkpoint is damaged", metadata: ["room": "\(room)", "usable": "\(usable.count)"])
            }
            guard let best = usable.last else {
                catalogue.damaged.append(room)
                continue
            }
            catalogue.rooms[room] = best
            if manifests.count < bodies.count { catalogue.outdated.append(room) }
        }
        catalogue.damaged.sort { $0.text < $1.text }
        catalogue.outdated.sort { $0.text < $1.text }
        return catalogue
    }

    /// Those that can be used, the one that holds most last.
    static func usable(_ bodies: [[UInt8]], of room: RoomID, log: String) -> [CheckpointManifest] {
        readable(bodies, of: room).filter { $0.log == log }
    }

    /// Those that can be read, of whatever log, the one that holds most last.
    private static func readable(_ bodies: [[UInt8]], of room: RoomID) -> [CheckpointManifest] {
        bodies.compactMap { try? CheckpointManifest(decoding: $0) }.filter { $0.room == room }.enumerated()
            .sorted {
                ($0.element.sequence, $0.element.handled, $0.offset)
                    < ($1.element.sequence, $1.element.handled, $1.offset)
            }.map(\.element)
    }

    /// All that are kept, by subject, in the order in which they were written.
    private func manifests(
        in streams: PartitionStreams, _ timeout: Duration
    ) async throws(JournalError) -> [String: [[UInt8]]] {
        let settings = OrderedConsumerSettings(
            stream: streams.checkpoint, start: .sequence(1), filterSubject: streams.manifests)
        let found = Locked<[String: [[UInt8]]]>([:])
        do throws(JetStreamError) {
            try await jetStream.readToEnd(settings, logger: logger, timeout: timeout) { message, _ in
                let (subject, body) = (message.subject, message.copyPayload())
                found.withLock { $0[subject, default: []].append(body) }
            }
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
        return found.withLock { $0 }
    }
}
