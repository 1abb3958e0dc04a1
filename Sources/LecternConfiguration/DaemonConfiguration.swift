public import Ink
public import StrokeWire
public import Whiteboard

/// The settings of the daemon; a new value has the defaults.
///
/// Settings for which another module has a type use that type and its defaults. Every key, with its format and range,
/// is in ``settings``.
public struct DaemonConfiguration: Sendable, Equatable {
    /// The connection to NATS.
    public var nats = NATS()
    /// Pages, images, health and metrics.
    public var http = HTTP()
    public var authentication = Authentication()
    /// Where and for how long rooms' logs are kept.
    public var journal = Journal()
    public var assets = Assets()
    public var audit = Audit()
    /// When rooms' checkpoints are written.
    public var checkpoint = Checkpoint()
    /// The subjects of the rooms.
    public var subjects = Subjects()
    /// This daemon's identity among those that share the rooms.
    public var node = Node()
    /// The size of every room's board.
    public var board = Board()
    /// The meaning of a message's colour.
    public var colour = ColourMode.palette
    /// The colours of ``ColourMode/palette``.
    public var palette = Palette.standard
    /// The limits of what is accepted.
    public var limits = Limits()
    /// When rooms leave memory.
    public var rooms = Rooms()
    /// How undo, redo and clear work.
    public var history = HistoryConfiguration(clear: .undoable)
    /// The cohorts of every room.
    public var cohorts = CohortsConfiguration(defaults: CohortSettings(gate: .auto))
    /// How much of its log a room keeps in memory.
    public var log = LogRetention()
    /// How strokes are drawn.
    public var ink = Ink()
    /// The picture of a room.
    public var canvas = Canvas()
    /// Threads and queues.
    public var server = Server()
    /// The daemon's log.
    public var logging = Logging()

    /// The defaults.
    public init() {}
}

extension DaemonConfiguration {
    /// The connection to NATS.
    public struct NATS: Sendable, Equatable {
        /// The servers.
        public var url = NATSAddress.servers("nats://127.0.0.1:4222")
        /// User and password for URLs without them, not encoded; nil for none.
        public var user: String?
        public var password: String?
        /// User and password of the HTTP side; nil for the ones above.
        public var gatewayUser: String?
        public var gatewayPassword: String?
        /// Prefix of the subjects on which the service receives replies. No client may publish or subscribe there. It does
        /// not begin with `_INBOX`, where clients receive theirs.
        public var inboxPrefix = "_LECTERN"
        /// PEM file of certificate authorities to trust, besides the system's; nil for none.
        public var authority: String?
        /// PEM files of the client certificate and its key; nil for none.
        public var certificate: String?
        public var key: String?
        /// Path of a credentials file with a JWT and an nkey seed, as `nsc` writes it; nil for none.
        public var credentials: String?
        /// The nats-server program that ``NATSAddress/embedded`` starts: a path, or a name on `PATH`.
        public var server = "nats-server"
        /// Directory of the JetStream files of the server that ``NATSAddress/embedded`` starts, relative to the daemon's
        /// working directory. Used with ``Journal/Mode/jetstream`` only.
        public var storeDirectory = "lectern-data"
    }

    /// Pages, images, health and metrics.
    public struct HTTP: Sendable, Equatable {
        /// The gateway's address; nil for no gateway.
        public var listen: ListenAddress? = .standard
        /// Where health and metrics are served beside, without tokens; nil for nowhere.
        public var admin: ListenAddress?
        /// The path below which a proxy serves the gateway, from `/` to `/`.
        public var basePath = "/"
        /// Origins whose pages may use the API.
        public var allowedOrigins: [String] = []
        /// Addresses of proxies that name their client in `X-Forwarded-For`, with a prefix length or without.
        public var trustedProxies: [String] = []
        /// Origins of videos that the pages may load.
        public var mediaOrigins: [String] = []
        /// A directory of translations of the pages' texts; nil for none beside those of the program.
        public var languages: String?
        /// Bytes of events that may wait to be sent to one reader.
        public var readerBuffer = 1 << 20
        /// Where ink of a room is later than this for a minute, the log says so.
        public var skewAlarm = Duration.milliseconds(500)
    }

    /// Access to the HTTP side.
    public struct Authentication: Sendable, Equatable {
        public enum Mode: String, Sendable, CaseIterable {
            case none, token
        }

        public var mode = Mode.none
        /// Whether the HTTP side may be open to everybody who reaches it.
        public var isInsecure = false
        /// File with the secret of HS256 tokens; nil for none.
        public var secretFile: String?
        /// PEM file with the public key of EdDSA or ES256 tokens; nil for none.
        public var publicKeyFile: String?
    }

    /// The subjects of the rooms.
    public struct Subjects: Sendable, Equatable {
        /// First token of every subject, `[a-z0-9_-]{1,64}`.
        public var root = "ink"
        /// The range of the number of partitions.
        public static let allowedPartitions = 1...1024
        /// Number of partitions, 1 … 1024; the same for all daemons and clients of one root.
        public var partitions = 1
    }

    /// This daemon's identity among those that share the rooms of one root.
    public struct Node: Sendable, Equatable {
        /// Its name, `[a-z0-9_-]{1,64}`; nil for a new random one each time it starts.
        public var id: String?
        /// What it does.
        public enum Role: String, Sendable, CaseIterable {
            /// Serves rooms over NATS.
            case core
            /// Serves the HTTP side; any number of gateways, wherever the rooms are.
            case gateway
        }
        public var roles: Set<Role> = [.core, .gateway]
    }

    /// Threads and queues.
    public struct Server: Sendable, Equatable {
        /// Threads that run rooms, 0 … 256; 0 for one on each core.
        public var workers = 0
        /// Bytes of messages that wait for one worker, at most.
        public var mailboxBytes = 64 << 20
        /// Joins that wait or are being answered, at most; half of it for one room.
        public var replies = 1024
        /// Requests for pictures that wait or are being answered, at most; half of it for one room.
        public var pictures = 256
        /// Bytes of boards that wait to be sent, and as many again that wait to be drawn, at most; half of it for one
        /// room.
        public var replyBytes = 256 << 20
    }

    /// The daemon's log.
    public struct Logging: Sendable, Equatable {
        /// A severity; the raw values are those of swift-log.
        public enum Level: String, Sendable, CaseIterable {
            case trace, debug, info, notice, warning, error
        }

        /// The form of a line.
        public enum Format: String, Sendable, CaseIterable {
            case text, json
        }

        /// The lowest severity that is logged.
        public var level = Level.info
        public var format = Format.text
    }

    /// Where and for how long rooms' logs are kept.
    public struct Journal: Sendable, Equatable {
        /// Where the logs of the rooms are kept.
        public enum Mode: String, Sendable, CaseIterable {
            /// In a JetStream stream for each partition: they survive restarts and takeovers.
            case jetstream
            /// In memory only, over core NATS.
            case none
        }

        /// Where the logs of the rooms are kept. The other settings are about ``Mode/jetstream``, and those of streams
        /// hold for streams that the daemon makes: a stream that is there already stays as it is.
        public var mode = Mode.jetstream
        /// Copies of each stream, each on another NATS server, 1 … 5.
        public var replicas = 1
        /// Age at which messages are deleted: a room without messages for so long begins anew.
        public var maxAge: Duration = .seconds(30 * 86_400)
        /// Bytes of one partition's log; above 80 % of them, records that are in checkpoints are given back, and when
        /// none can be, publishing is refused. Nil: no limit.
        public var maxBytes: Int?
        /// Bytes that JetStream may store in all on the NATS server, for one that does not tell its clients: above 80 %
        /// of them records are given back, too. Nil: not known.
        public var storeBytes: Int?
        /// Whether streams that had been there and are gone are made again, empty.
        public var recreatesStreams = false
        /// How long a `Nats-Msg-Id` is remembered, at most ``maxAge``.
        public var duplicateWindow: Duration = .seconds(120)
    }

    /// Files that teachers place on boards, which are kept in JetStream, next to the logs.
    public struct Assets: Sendable, Equatable {
        /// Bytes of all files together; beyond, further ones are refused. Nil: no limit.
        public var maxBytes: Int? = 4 << 30
        /// Bytes of the files that were uploaded to one room; beyond, further ones are refused. Nil: no limit.
        public var roomBytes: Int? = 512 << 20
    }

    /// The log of operators' commands, in JetStream.
    public struct Audit: Sendable, Equatable {
        /// How long an entry is kept.
        public var maxAge: Duration = .seconds(365 * 86_400)
        /// Bytes of all entries; beyond, the oldest are deleted.
        public var maxBytes = 64 << 20
    }

    /// When rooms' checkpoints are written: the states from which rooms are restored without their whole logs.
    public struct Checkpoint: Sendable, Equatable {
        /// The longest time from a change of a room to its checkpoint. The cursors of its cohorts are written every second.
        public var interval: Duration = .seconds(30)
        /// The most operations of a room between two checkpoints.
        public var operations = 256
    }

    /// When rooms leave memory.
    public struct Rooms: Sendable, Equatable {
        /// The time without messages after which a room leaves memory.
        public var idle: Duration = .seconds(600)
    }

    /// The size of every room's board, in board units, and what it has beyond strokes.
    public struct Board: Sendable, Equatable {
        /// 1 … 16384; 0 takes it from the first draw of a room.
        public var width = 0.0
        /// 1 … 16384; 0 takes it from the first draw of a room.
        public var height = 0.0
        /// What rooms have beyond strokes.
        public var features = Set(Feature.allCases)

        public enum Feature: String, Sendable, CaseIterable {
            case pages
            case images
            case lasso
            case pens
            case pointer
            case paper
            case remove
            case text

            var wire: BoardFeatures {
                switch self {
                case .pages: .pages
                case .images: .images
                case .lasso: .lasso
                case .pens: .pens
                case .pointer: .pointer
                case .paper: .paper
                case .remove: .remove
                case .text: .text
                }
            }
        }
    }

    /// The meaning of a message's colour.
    public enum ColourMode: String, Sendable, CaseIterable {
        /// An index into ``DaemonConfiguration/palette``.
        case palette
        /// `0xRRGGBB`.
        case rgb
    }

    /// The limits of what is accepted.
    public struct Limits: Sendable, Equatable {
        /// The limits of one room. The meaning of its colours comes from ``DaemonConfiguration/colour`` and
        /// ``DaemonConfiguration/palette``; see ``DaemonConfiguration/room``.
        public var intake = IntakeLimits()
        /// Rooms of one daemon.
        public var rooms = 10_000
        /// Rooms with an operation, in memory or hibernated, at most.
        public var storedRooms = 1_000_000
        /// Without a journal: bytes of hibernated rooms, at most.
        public var hibernatedBytes = 1 << 30
    }

    /// How strokes are drawn.
    public struct Ink: Sendable, Equatable {
        /// How the points of a freehand stroke or an eraser become ink.
        public var style = InkStyle.smooth
        /// What the style `stamp` stamps with.
        public var tip = InkTip.round
    }

    /// The picture of a room.
    public struct Canvas: Sendable, Equatable {
        /// Pixels for one board unit, 0.25 … 8.
        public var scale = 1.0
        /// Bytes of tiles kept, of all rooms.
        public var memory = 256 << 20
    }
}

extension DaemonConfiguration {
    /// The settings of every room.
    public var room: RoomConfiguration {
        RoomConfiguration(intake: intake, history: history, cohorts: cohorts, boardSize: boardSize, log: log)
    }

    /// The limits of one room; its colours are those of the palette, or any.
    public var intake: IntakeLimits {
        var intake = limits.intake
        intake.wire.colours = colourSpace
        intake.wire.features = BoardFeatures(board.features.map(\.wire))
        if history.clear == .undoable { intake.wire.features.insert(.undoableClears) }
        if colour == .rgb { intake.wire.features.insert(.rgbColours) }
        return intake
    }

    /// The colours that a message may have.
    public var colourSpace: ColourSpace {
        switch colour {
        case .palette: .palette(count: palette.colours.count)
        case .rgb: .rgb
        }
    }

    /// The configured size of a room's board; nil takes it from the first draw.
    public var boardSize: BoardSize? {
        board.width > 0 && board.height > 0 ? BoardSize(width: board.width, height: board.height) : nil
    }
}
