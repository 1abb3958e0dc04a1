internal import Foundation
import NATSClient
import StrokeWire

/// The names, subjects and limits of a partition's two streams.
struct PartitionStreams: Sendable {
    /// The first tokens of all subjects.
    let root: String
    let partition: Int
    /// Whether these are the copies that ``Repartitioning`` reads.
    var areCopies = false

    /// The stream of the rooms' records, such as `INK_LOG_0`.
    var log: String { name("LOG") }
    /// The stream of the rooms' checkpoints, such as `INK_CHECKPOINT_0`.
    var checkpoint: String { name("CHECKPOINT") }

    /// The subjects of all manifests.
    var manifests: String { "\(root).\(partition).*.checkpoint" }

    /// The subject of a room's manifest.
    func manifest(of room: RoomID) -> String { "\(root).\(partition).\(room).checkpoint" }

    /// The subject of the ``Coverage``; no room's name has capitals.
    var coverage: String { "\(root).\(partition).COVERED.checkpoint" }

    /// The room whose manifest has this subject; nil for other subjects.
    func room(ofManifest subject: String) -> RoomID? {
        let tokens = subject.dropFirst(root.count).split(separator: ".")
        return tokens.count == 3 ? RoomID(tokens[1]) : nil
    }

    /// The subject of a part of a room's state.
    /// - Parameters:
    ///   - number: of the part, from 0.
    ///   - slot: see ``CheckpointManifest/State/slot``.
    func part(_ number: Int, of room: RoomID, slot: Int?) -> String {
        let slot = slot.map { "\($0)." } ?? ""
        return "\(manifest(of: room)).\(slot)\(number)"
    }

    /// Where records stand that were moved to the log: `<this>in.<author>` and `<this>ctl`. Captured only by logs that
    /// records were moved to; no role but the service's may publish there.
    func moved(of room: RoomID) -> String { "\(root).\(partition).\(room).moved." }

    /// The subjects of all records that were moved to the log.
    var moved: String { "\(root).\(partition).*.moved.>" }

    /// The subject of the first message of such a log; no room's name has capitals.
    var movedMark: String { "\(root).\(partition).MOVED.moved.ctl" }

    /// The subjects of rooms' records.
    var records: [String] { ["\(root).\(partition).*.in.*", "\(root).\(partition).*.ctl"] }

    /// A full log refuses new messages rather than losing acknowledged ones.
    func logConfiguration(_ settings: JournalSettings, _ identity: LogIdentity) -> StreamConfiguration {
        var stream = StreamConfiguration(name: log, subjects: records)
        stream.description = identity.description
        stream.apply(settings)
        stream.maxBytes = settings.maxBytes
        stream.discard = .new
        return stream
    }

    /// Keeps the three newest manifests of a room, since one may be damaged.
    func checkpointConfiguration(_ settings: JournalSettings) -> StreamConfiguration {
        var stream = StreamConfiguration(name: checkpoint, subjects: [manifests, "\(manifests).>"])
        stream.apply(settings)
        stream.maxMessagesPerSubject = 3
        stream.discard = .old
        return stream
    }

    private func name(_ kind: String) -> String {
        "\(Self.stem(root))_\(areCopies ? "MOVING_" : "")\(kind)_\(partition)"
    }

    /// The beginning of all streams' names, such as `INK`.
    static func stem(_ root: String) -> String { root.map { $0 == "." ? "_" : String($0) }.joined().uppercased() }
}

/// What tells a log from one that was deleted and created again: the prefix of its rooms' incarnations.
///
/// It stands in the stream's description, which is the same on every server and in every backup. The stream's creation time is
/// not: where two daemons created it at the same moment, it is that of the first or of the second, as the leading server has it.
struct LogIdentity: CustomStringConvertible {
    private static let label = "Lectern log "

    /// Nanoseconds since 1970 in base 36.
    let text: String

    /// Of a log that is created now.
    init(now: Date = Date()) {
        text = String(Int64(now.timeIntervalSince1970 * 1e9), radix: 36)
    }

    /// Reads the description of a stream.
    /// - Returns: nil for another text.
    init?(description: String) {
        guard description.hasPrefix(Self.label) else { return nil }
        let text = description.dropFirst(Self.label.count)
        guard 1...24 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7a ~= $0 }) else {
            return nil
        }
        self.text = String(text)
    }

    /// Of an existing log. Where its stream has no such description: when one of its servers says that it was created.
    init(of log: StreamInfo) {
        self = Self(description: log.configuration.description) ?? Self(text: String(log.created, radix: 36))
    }

    private init(text: String) {
        self.text = text
    }

    var description: String { Self.label + text }
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
