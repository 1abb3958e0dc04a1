public import Ink
public import StrokeWire
public import Whiteboard

/// The settings of the daemon; a new value has the defaults.
///
/// Settings for which another module has a type use that type and its defaults. Every key, with its format, range and meaning,
/// is in ``settings``; nil is none, or no limit.
public struct DaemonConfiguration: Sendable, Equatable {
    public var nats = NATS()
    public var http = HTTP()
    public var authentication = Authentication()
    public var journal = Journal()
    public var assets = Assets()
    public var audit = Audit()
    public var checkpoint = Checkpoint()
    public var subjects = Subjects()
    public var node = Node()
    public var board = Board()
    public var colour = ColourMode.palette
    public var palette = Palette.standard
    public var limits = Limits()
    public var rooms = Rooms()
    public var history = HistoryConfiguration(clear: .undoable)
    public var cohorts = CohortsConfiguration(defaults: CohortSettings(gate: .auto))
    public var log = LogRetention()
    public var ink = Ink()
    public var canvas = Canvas()
    public var server = Server()
    public var logging = Logging()

    /// The defaults.
    public init() {}
}

extension DaemonConfiguration {
    /// The connection to NATS.
    public struct NATS: Sendable, Equatable {
        public var url = NATSAddress.servers("nats://127.0.0.1:4222")
        public var user: String?
        public var password: String?
        public var gatewayUser: String?
        public var gatewayPassword: String?
        public var inboxPrefix = "_LECTERN"
        public var authority: String?
        public var certificate: String?
        public var key: String?
        public var credentials: String?
        public var server = "nats-server"
        public var storeDirectory = "lectern-data"
    }

    /// Pages, images, health and metrics.
    public struct HTTP: Sendable, Equatable {
        public var listen: ListenAddress? = .standard
        public var admin: ListenAddress?
        public var basePath = "/"
        public var allowedOrigins: [String] = []
        public var trustedProxies: [String] = []
        public var mediaOrigins: [String] = []
        public var languages: String?
        public var readerBuffer = 1 << 20
        public var skewAlarm = Duration.milliseconds(500)
    }

    /// Access to the HTTP side.
    public struct Authentication: Sendable, Equatable {
        /// Whether clients of the HTTP side need a token.
        public enum Mode: String, Sendable, CaseIterable {
            case none, token
        }

        public var mode = Mode.none
        public var isInsecure = false
        public var secretFile: String?
        public var publicKeyFile: String?
    }

    /// The subjects of the rooms.
    public struct Subjects: Sendable, Equatable {
        public var root = "ink"
        /// The range of the number of partitions.
        public static let allowedPartitions = 1...1024
        public var partitions = 1
    }

    /// This daemon's identity among those that share the rooms of one root.
    public struct Node: Sendable, Equatable {
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
        public var workers = 0
        public var mailboxBytes = 64 << 20
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
        public var replicas = 1
        public var maxAge: Duration = .seconds(30 * 86_400)
        public var maxBytes: Int?
        public var storeBytes: Int?
        public var recreatesStreams = false
    }

    /// Files that teachers place on boards, which are kept in JetStream, next to the logs.
    public struct Assets: Sendable, Equatable {
        public var maxBytes: Int? = 4 << 30
        public var roomBytes: Int? = 512 << 20
    }

    /// The log of operators' commands, in JetStream.
    public struct Audit: Sendable, Equatable {
        public var maxAge: Duration = .seconds(365 * 86_400)
        public var maxBytes = 64 << 20
    }

    /// When rooms' checkpoints are written: the states from which rooms are restored without their whole logs.
    public struct Checkpoint: Sendable, Equatable {
        public var interval: Duration = .seconds(30)
        public var operations = 256
    }

    /// When rooms leave memory.
    public struct Rooms: Sendable, Equatable {
        public var idle: Duration = .seconds(600)
    }

    /// The size of every room's board, in board units, and what it has beyond strokes.
    public struct Board: Sendable, Equatable {
        public var width = 0.0
        public var height = 0.0
        public var features = Set(Feature.allCases)

        /// The raw values are the names of `BoardFeatures`.
        public enum Feature: String, Sendable, CaseIterable {
            case pages, images, lasso, pens, pointer, paper, remove, text
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
        public var rooms = 10_000
        public var storedRooms = 1_000_000
        public var hibernatedBytes = 1 << 30
    }

    /// How strokes are drawn.
    public struct Ink: Sendable, Equatable {
        public var style = InkStyle.smooth
        public var tip = InkTip.round
    }

    /// The picture of a room.
    public struct Canvas: Sendable, Equatable {
        public var scale = 1.0
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
        intake.wire.features = BoardFeatures(names: board.features.map(\.rawValue))
        if history.clear == .undoable { intake.wire.features.insert(.undoableClears) }
        if history.scope == .author { intake.wire.features.insert(.authorScope) }
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
