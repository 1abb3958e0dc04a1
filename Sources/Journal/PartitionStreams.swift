import Logging
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

    /// The streams that these are copies of.
    var original: PartitionStreams { PartitionStreams(root: root, partition: partition) }

    var manifests: String { "\(root).\(partition).*.checkpoint" }

    /// The subject of a room's manifest.
    func manifest(of room: RoomID) -> String { "\(root).\(partition).\(room).checkpoint" }

    /// The subject of the ``Coverage``; no room's name has capitals.
    var coverage: String { "\(root).\(partition).COVERED.checkpoint" }

    /// The subject of the notes of rooms in a slot of ``CursorNotes``; no room's name has capitals.
    func cursors(_ slot: Int) -> String { "\(root).\(partition).\(Self.cursorsToken)\(slot).checkpoint" }

    /// Whether a subject is one of these.
    func isOfCursors(_ subject: String) -> Bool {
        subject.dropFirst(root.count).split(separator: ".").dropFirst().first?.hasPrefix(Self.cursorsToken) ?? false
    }

    private static let cursorsToken = "CURSORS"

    /// The subject of the decision to erase a room that a command has made, kept beside the log. Parts have a number in that
    /// place.
    func decision(on room: RoomID, by command: String) -> String {
        "\(decisions(on: room))\(FNV1a64.digits(FNV1a64.hash(Array(command.utf8))))"
    }

    /// What the subjects of all such decisions on a room begin with.
    func decisions(on room: RoomID) -> String { "\(manifest(of: room)).erased." }

    /// The room whose manifest has this subject; nil for other subjects.
    func room(ofManifest subject: String) -> RoomID? {
        let tokens = subject.dropFirst(root.count).split(separator: ".")
        return tokens.count == 3 ? RoomID(tokens[1]) : nil
    }

    /// The room that a decision with this subject is about; nil for other subjects.
    func room(ofDecision subject: String) -> RoomID? {
        let tokens = subject.dropFirst(root.count).split(separator: ".")
        return tokens.count == 5 && tokens[3] == "erased" ? RoomID(tokens[1]) : nil
    }

    /// The subject of a part of a room's state.
    /// - Parameters:
    ///   - number: of the part, from 0.
    ///   - slot: see ``CheckpointManifest/State/slot``.
    func part(_ number: Int, of room: RoomID, slot: Int?) -> String {
        let slot = slot.map { "\($0)." } ?? ""
        return "\(manifest(of: room)).\(slot)\(number)"
    }

    /// The subject of the manifests that a room was restored from after its log had lost its end.
    func base(of room: RoomID) -> String { "\(manifest(of: room)).base" }

    /// Where records stand that were moved to the log: `<this>in.<author>` and `<this>ctl`. Captured only by logs that
    /// records were moved to; no role but the service's may publish there.
    func moved(of room: RoomID) -> String { "\(root).\(partition).\(room).moved." }

    /// The subjects of all records that were moved to the log.
    var moved: String { "\(root).\(partition).*.moved.>" }

    /// The subject of the first message of such a log; no room's name has capitals.
    var movedMark: String { "\(root).\(partition).MOVED.moved.ctl" }

    /// The subject of messages that fill damaged files of the log; no room's name has capitals.
    var logFiller: String { "\(root).\(partition).FILLER.ctl" }

    /// The same of the checkpoints.
    var checkpointFiller: String { "\(root).\(partition).FILLER.checkpoint.filler" }

    /// The only subject of a log that captures nothing; no room's name has capitals.
    var parked: String { "\(root).\(partition).PARKED.log" }

    /// The subjects of rooms' records.
    var records: [String] { ["\(root).\(partition).*.in.*", "\(root).\(partition).*.ctl"] }

    /// A full log refuses new messages rather than losing acknowledged ones.
    func logConfiguration(_ settings: JournalSettings, _ identity: StreamIdentity) -> StreamConfiguration {
        var stream = StreamConfiguration(name: log, subjects: records)
        stream.description = identity.description
        stream.apply(settings)
        stream.maxBytes = settings.maxBytes
        stream.discard = .new
        return stream
    }

    /// Messages that a subject of the checkpoints keeps.
    static let keptCheckpoints = 3

    /// Keeps the three newest manifests of a room, since one may be damaged.
    func checkpointConfiguration(_ settings: JournalSettings) -> StreamConfiguration {
        var stream = StreamConfiguration(name: checkpoint, subjects: [manifests, "\(manifests).>"])
        stream.apply(settings)
        stream.maxMessagesPerSubject = Int64(Self.keptCheckpoints)
        stream.discard = .old
        return stream
    }

    private func name(_ kind: String) -> String {
        "\(Self.stem(root))_\(areCopies ? "MOVING_" : "")\(kind)_\(partition)"
    }

    /// The beginning of all streams' names, such as `INK`.
    static func stem(_ root: String) -> String { root.map { $0 == "." ? "_" : String($0) }.joined().uppercased() }
}

/// What tells a stream from one of its name that was deleted and created again: of a log, the prefix of its rooms' incarnations.
///
/// It stands in the stream's description, which is the same on every server and in every backup. The stream's creation time is
/// not: where two daemons created it at the same moment, it is that of the first or of the second, as the leading server has it.
/// A log's description also has the number of partitions: `Lectern log dn4j9y3fhnd4 of 8`.
struct StreamIdentity: CustomStringConvertible {
    /// What the stream holds, as its description says it.
    enum Kind: String {
        case log
        case revocations
    }

    private let kind: Kind
    /// Nanoseconds since 1970 in base 36.
    let text: String
    /// The number of partitions that the log is one of; nil where that is not known.
    let partitions: Int?

    /// Of a stream that is created now.
    init(_ kind: Kind, of partitions: Int? = nil) {
        self.init(kind, text: String(WallClock.now(), radix: 36), of: partitions)
    }

    /// Reads the description of a stream.
    /// - Returns: nil for another text.
    init?(_ kind: Kind, description: String) {
        let label = Self.label(kind)
        guard description.hasPrefix(label) else { return nil }
        let words = description.dropFirst(label.count).split(separator: " ", omittingEmptySubsequences: false)
        let partitions = words.count == 3 && words[1] == "of" ? Int(words[2]).flatMap { $0 > 0 ? $0 : nil } : nil
        guard let text = words.first, words.count == 1 || partitions != nil else { return nil }
        guard 1...24 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7a ~= $0 }) else {
            return nil
        }
        self.init(kind, text: String(text), of: partitions)
    }

    /// Of an existing stream. Where it has no such description: when one of its servers says that it was created.
    init(_ kind: Kind, of stream: StreamInfo) {
        self =
            Self(kind, description: stream.configuration.description)
            ?? Self(kind, text: String(stream.created, radix: 36))
    }

    private init(_ kind: Kind, text: String, of partitions: Int? = nil) {
        self.kind = kind
        self.text = text
        self.partitions = partitions
    }

    /// The number of partitions that a log's description has.
    static func partitions(of log: StreamInfo) -> Int? {
        StreamIdentity(.log, description: log.configuration.description)?.partitions
    }

    /// The same with a number of partitions.
    func with(partitions: Int) -> StreamIdentity { StreamIdentity(kind, text: text, of: partitions) }

    private static func label(_ kind: Kind) -> String { "Lectern \(kind.rawValue) " }

    var description: String { Self.label(kind) + text + (partitions.map { " of \($0)" } ?? "") }
}

extension JetStream {
    /// The incarnation prefix of a log.
    func identity(ofLog name: String) async throws(JournalError) -> String {
        try await onStream(name) { () throws(JetStreamError) in
            StreamIdentity(.log, of: try await streamInfo(name)).text
        }
    }

    /// Creates a stream where there is none. An existing one is not changed; differences are logged.
    ///
    /// - Parameter isIdentified: whether its description has an identity. Of daemons that create such a stream in a cluster at
    ///   the same moment, the last one's description stays. So one that is new is looked at twice, a second apart.
    func provision(
        _ wanted: StreamConfiguration, isIdentified: Bool = false, logger: Logger
    ) async throws(JetStreamError) -> StreamInfo {
        var (info, differences) = try await provision(wanted)
        let age = WallClock.now() - info.created
        if isIdentified, info.isClustered, age.magnitude < 5_000_000_000 {
            try? await Task.sleep(for: .seconds(1))
            (info, differences) = try await provision(wanted)
        }
        for difference in differences {
            logger.warning(
                "stream differs from the configuration and is not changed",
                metadata: ["stream": "\(wanted.name)", "difference": "\(difference)"])
        }
        return info
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
