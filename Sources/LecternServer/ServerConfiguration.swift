public import Ink
public import StrokeWire
public import Whiteboard

/// The settings of a server, for all its rooms.
public struct ServerConfiguration: Sendable {
    /// First token of all subjects.
    public var root = "ink"
    /// Number of partitions, 1 or more.
    public var partitions = 1
    /// The settings of every room.
    public var room = RoomConfiguration()
    /// Rooms at most; a message for one more is answered `room-full`.
    public var rooms = 10_000
    /// Colours of `colour: palette`, sent to clients with the join reply.
    public var palette = Palette.standard
    /// A stroke that was joined from shards goes out in messages of at most so many bytes.
    public var fanoutBytes = 65_536
    /// How strokes are drawn.
    public var style = InkStyle.smooth
    /// Pixels of the canvas for one board unit.
    public var canvasScale = 1.0
    /// Bytes of canvas tiles kept, of all rooms; beyond, those longest unused are given back.
    public var canvasBytes = 256 << 20
    /// Threads that run rooms; 0 for one a core.
    public var workers = 0
    /// Bytes that wait for a worker, each; messages that come beyond are dropped and counted, and their authors are
    /// told that they are missing.
    public var mailboxBytes = 64 << 20
    /// Join and image replies under way at once; requests beyond are answered `not-ready`.
    public var replies = 1024

    public init() {}
}
