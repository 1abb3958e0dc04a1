public import Hosting
public import Ink
public import Journal
public import StrokeWire
public import Whiteboard

/// The settings of a server, for all its rooms.
public struct ServerConfiguration: Sendable {
    /// First token of all subjects.
    public var root = "ink"
    /// Number of partitions, 1 or more.
    public var partitions = 1
    /// The journal's streams; nil for core NATS, where nothing survives the process and every daemon is alone.
    public var journal: JournalSettings?
    /// When rooms are saved, where there is a journal to save them beside.
    public var checkpoints = CheckpointSchedule()
    /// This daemon's name among those that share the root: `[a-z0-9_-]{1,64}`.
    public var name = "lectern-\(UInt32.random(in: .min ... .max))"
    /// A room in which nothing has happened for so long leaves memory; its next message or join brings it back.
    public var idle = Duration.seconds(600)
    /// The settings of every room.
    public var room = RoomConfiguration()
    /// Rooms in memory at most. Without a journal a message for one more is answered `room-full`; with one, rooms in
    /// which nothing is held leave memory for it.
    public var rooms = 10_000
    /// Colours of `colour: palette`, sent to clients with the join reply.
    public var palette = Palette.standard
    /// A stroke that was joined from shards goes out in messages of at most so many bytes.
    public var fanoutBytes = 65_536
    /// How strokes are drawn.
    public var style = InkStyle.smooth
    /// Pixels of the canvas for one board unit.
    public var canvasScale = 1.0
    /// Bytes of canvases and encoded pictures kept, of all rooms; beyond, those longest unused are given back.
    public var canvasBytes = 256 << 20
    /// Threads that run rooms; 0 for one a core.
    public var workers = 0
    /// Bytes that wait for a worker, each; messages that come beyond are dropped and counted, and their authors are
    /// told that they are missing.
    public var mailboxBytes = 64 << 20
    /// Join and image replies under way at once; requests beyond are answered `not-ready`.
    public var replies = 1024

    public init() {}

    /// What this daemon and others of the root must have alike.
    var commonSettings: CommonSettings {
        CommonSettings(partitions: partitions, journal: journal == nil ? CommonSettings.noJournal : "jetstream")
    }

    /// The settings of the machine that runs the rooms of one worker.
    var host: HostConfiguration {
        HostConfiguration(
            room: room, root: root, partitions: partitions, checkpoints: journal == nil ? nil : checkpoints, idle: idle)
    }
}
