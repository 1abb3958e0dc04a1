public import Hosting
public import Ink
public import Journal
internal import NATSClient
public import StrokeWire
public import Whiteboard

/// The settings of a server.
public struct ServerConfiguration: Sendable {
    /// First token of all subjects.
    public var root = "ink"
    /// Number of partitions, 1 or more.
    public var partitions = 1
    /// The journal's streams; nil for core NATS, where nothing survives the process and only one daemon may run.
    public var journal: JournalSettings?
    /// Bytes of all assets together, which only a journal keeps; -1: no limit.
    public var assetBytes: Int64 = 4 << 30
    /// Bytes of the assets that were uploaded to one room; -1: no limit.
    public var roomAssetBytes: Int64 = 512 << 20
    /// Bytes of the audit log, which only a journal keeps.
    public var auditBytes: Int64 = 64 << 20
    /// How long an entry of the audit log is kept.
    public var auditAge: Duration = .seconds(365 * 86_400)
    /// How often the store is told that an asset is used, which writes it where that was an eighth of the journal's age ago:
    /// together less than the quarter that assets stay longer.
    var assetUseInterval: Duration { journal.map { $0.maxAge / 16 } ?? .seconds(86_400) }
    /// When rooms are saved; used only with a journal.
    public var checkpoints = CheckpointSchedule()
    /// This daemon's name among those that share the root: `[a-z0-9_-]{1,64}`.
    public var name = "lectern-\(UInt32.random(in: .min ... .max))"
    /// Time without activity after which a room is evicted from memory; its next message or join loads it.
    public var idle = Duration.seconds(600)
    /// The settings of every room.
    public var room = RoomConfiguration()
    /// Rooms in memory at most, divided among the workers, at least one each. Beyond, the least recently used room is
    /// hibernated, whatever is held or pending in it.
    public var rooms = 10_000
    /// Rooms with an operation at most, in memory or hibernated, divided among the partitions, at least one each. A
    /// message to one more room is answered `room-full`.
    public var storedRooms = 1_000_000
    /// Without a journal: bytes of hibernated rooms. Above seven eighths of it a new room is answered `room-full`; above
    /// all of it, since boards grow, the room hibernated longest ago is dropped.
    public var hibernatedBytes = 1 << 30
    /// Colours for `colour: palette`, sent to clients with the join reply.
    public var palette = Palette.standard
    /// Bytes of a message at most when a stroke that came in shards is published.
    public var fanoutBytes = 65_536
    /// How strokes are drawn.
    public var style = InkStyle.smooth
    /// What the style `stamp` stamps with.
    public var tip = InkTip.round
    /// The name of both that clients are told.
    public var inkName: String { style.name(tip: tip) }
    /// Pixels of the canvas for one board unit.
    public var canvasScale = 1.0
    /// Bytes of canvases and encoded pictures of all rooms, cached or being made; beyond, the least recently used are
    /// evicted, and drawings wait for each other.
    public var canvasBytes = 256 << 20
    /// Threads that run rooms; 0 for one per core.
    public var workers = 0
    /// Bytes in the mailbox of each worker; further messages are dropped and counted, and their authors are told that
    /// they are missing.
    public var mailboxBytes = 64 << 20
    /// Pending joins, and as many pending `info` requests; beyond, and beyond half of it for one room, requests are
    /// answered `not-ready`.
    public var replies = 1024
    /// Pending requests for pictures, bounded in the same way; and as many for pages of assets, of which one view of a room,
    /// its head's or a cohort's, has at most a quarter.
    public var pictures = 256
    /// Bytes of boards and operations referenced by pending joins, and as many by pending pictures; beyond, and beyond
    /// half of it for one room, requests are answered `not-ready`. Requests for the same reply share them.
    public var replyBytes = 256 << 20

    /// How often the coverage of checkpoints is noted; the space of the log is checked half as often.
    var upkeepInterval = Duration.seconds(1)

    public init() {}

    /// The settings that all daemons of one root must share.
    var commonSettings: CommonSettings {
        CommonSettings(partitions: partitions, journal: journal == nil ? CommonSettings.noJournal : "jetstream")
    }

    /// The `max_payload` that the NATS server must have, in bytes. An operation goes out as it came in, with other headers;
    /// boards, pictures, lists and files are cut to what the server takes. What else is not cut fits into
    /// ``leastPayload``.
    public var neededPayload: Int {
        max(Self.leastPayload, room.intake.wire.messageBytes + NATSConnection.headerBytes)
    }

    static let leastPayload = 64 << 10

    /// The settings of one worker's room host.
    func host(worker: Int, of workers: Int) -> HostConfiguration {
        HostConfiguration(
            room: room, root: root, partitions: partitions, checkpoints: journal == nil ? nil : checkpoints, idle: idle,
            rooms: rooms / workers + (worker < rooms % workers ? 1 : 0), sleepingBytes: hibernatedBytes / workers)
    }
}
