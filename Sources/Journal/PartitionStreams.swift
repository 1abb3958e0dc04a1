import NATSClient
import StrokeWire

/// The names, subjects and limits of a partition's two streams (subjects.md, "Streams").
struct PartitionStreams: Sendable {
    /// The subjects' first tokens.
    let root: String
    let partition: Int

    /// What rooms are made from, such as `INK_LOG_0`.
    var log: String { name("LOG") }
    /// What they are brought back with, such as `INK_CHECKPOINT_0`.
    var checkpoint: String { name("CHECKPOINT") }

    /// The manifests of all rooms.
    var manifests: String { "\(root).\(partition).*.checkpoint" }

    /// The subject of a room's manifest.
    func manifest(of room: RoomID) -> String { "\(root).\(partition).\(room).checkpoint" }

    /// How far the log is in checkpoints. No room has a name with capitals.
    var coverage: String { "\(root).\(partition).COVERED.checkpoint" }

    /// The room whose manifest comes on that subject.
    func room(ofManifest subject: String) -> RoomID? {
        let tokens = subject.dropFirst(root.count).split(separator: ".")
        return tokens.count == 3 ? RoomID(tokens[1]) : nil
    }

    /// The subject of a part of a room's state, from 0.
    func part(_ number: Int, of room: RoomID) -> String { "\(manifest(of: room)).\(number)" }

    /// The log refuses new messages rather than to lose one that was acknowledged.
    func logConfiguration(_ settings: JournalSettings) -> StreamConfiguration {
        var stream = StreamConfiguration(
            name: log, subjects: ["\(root).\(partition).*.in.*", "\(root).\(partition).*.ctl"])
        stream.apply(settings)
        stream.maxBytes = settings.maxBytes
        stream.discard = .new
        return stream
    }

    /// The newest checkpoint of a room, the one before, and one that was begun.
    func checkpointConfiguration(_ settings: JournalSettings) -> StreamConfiguration {
        var stream = StreamConfiguration(name: checkpoint, subjects: [manifests, "\(manifests).>"])
        stream.apply(settings)
        stream.maxMessagesPerSubject = 3
        stream.discard = .old
        return stream
    }

    private func name(_ kind: String) -> String {
        let stem = root.map { $0 == "." ? "_" : String($0) }.joined().uppercased()
        return "\(stem)_\(kind)_\(partition)"
    }
}

extension StreamConfiguration {
    fileprivate mutating func apply(_ settings: JournalSettings) {
        replicas = settings.replicas
        maxAge = settings.maxAge
        // The server refuses a longer one.
        duplicateWindow =
            settings.maxAge > .zero ? min(settings.duplicateWindow, settings.maxAge) : settings.duplicateWindow
    }
}
