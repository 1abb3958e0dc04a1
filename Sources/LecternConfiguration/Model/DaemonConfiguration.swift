public import StrokeWire
public import Whiteboard

/// The settings of the daemon; a new value has the defaults.
///
/// Where a part of the server has a type of its own for its settings, that type stands here, and its defaults are the
/// defaults. Every key, with its notation and range, is in ``settings``.
public struct DaemonConfiguration: Sendable, Equatable {
    /// The connection to NATS.
    public var nats = NATS()
    /// Pages, images, health and metrics.
    public var http = HTTP()
    /// Where rooms' logs are, and for how long.
    public var journal = Journal()
    /// When the state of a room is written down.
    public var checkpoint = Checkpoint()
    /// Where in NATS the rooms are.
    public var subjects = Subjects()
    /// This daemon among those that share the rooms of one root.
    public var node = Node()
    /// The size of every room's board.
    public var board = Board()
    /// What the colour of a message means.
    public var colour = ColourMode.palette
    /// The colours of ``ColourMode/palette``.
    public var palette = Palette.standard
    /// What is taken in, at most.
    public var limits = Limits()
    /// Which rooms are in memory.
    public var rooms = Rooms()
    /// How undo, redo and clear work.
    public var history = HistoryConfiguration()
    /// The cohorts of every room.
    public var cohorts = CohortsConfiguration()
    /// How released operations are sent.
    public var fanout = Fanout()
    /// How much of its log a room keeps in memory.
    public var log = LogRetention()
    /// How strokes are drawn.
    public var ink = Ink()
    /// The picture of a room.
    public var canvas = Canvas()
    /// Threads and queues.
    public var server = Server()
    /// What is written to the log of the daemon.
    public var logging = Logging()

    /// The defaults.
    public init() {}
}
