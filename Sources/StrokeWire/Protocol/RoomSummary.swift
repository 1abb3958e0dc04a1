/// State of a room, in the replies to `<address>.info` and `<root>.rooms`.
///
/// A hibernated room is not in memory: digest, board and visible strokes are missing, authors and assembling are 0. Older
/// services may leave out more.
public struct RoomSummary: Sendable, Hashable, Codable {
    /// A board's size in its own units.
    public struct Size: Sendable, Hashable, Codable {
        public let width: Double
        public let height: Double

        public init(width: Double, height: Double) {
            self.width = width
            self.height = height
        }

        enum CodingKeys: String, CodingKey {
            case width = "w"
            case height = "h"
        }
    }

    /// A cohort of the room.
    public struct Cohort: Sendable, Hashable, Codable {
        /// Its name.
        public let cohort: String
        /// Index of the last operation released to it.
        public let index: UInt64
        /// Number of operations that wait for its video.
        public let held: Int
        /// Media time of its video in milliseconds; nil, and `null` in JSON, while unknown.
        public let video: Double?

        public init(cohort: String, index: UInt64, held: Int, video: Double?) {
            self.cohort = cohort
            self.index = index
            self.held = held
            self.video = video
        }

        enum CodingKeys: String, CodingKey {
            case cohort, index, held
            case video = "v"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(cohort, forKey: .cohort)
            try container.encode(index, forKey: .index)
            try container.encode(held, forKey: .held)
            try container.encode(video, forKey: .video)
        }
    }

    /// The room's name.
    public let room: String
    /// Prefix of its subjects.
    public let address: String
    /// Id of the incarnation: a new one after each close.
    public let incarnation: String?
    /// Index of the last operation in its log.
    public let index: UInt64
    /// Digest of the board at the end of the log.
    public let digest: String?
    /// Size of the board.
    public let board: Size?
    /// Number of visible strokes.
    public let visible: Int?
    /// Number of authors with state.
    public let authors: Int?
    /// Number of strokes whose shards are still arriving.
    public let assembling: Int?
    /// Whether the service has evicted it from memory; nil means no.
    public let isHibernated: Bool?
    /// Its cohorts.
    public let cohorts: [Cohort]

    public init(
        room: String, address: String, incarnation: String? = nil, index: UInt64, digest: String? = nil,
        board: Size? = nil, visible: Int? = nil, authors: Int? = nil, assembling: Int? = nil,
        isHibernated: Bool? = nil, cohorts: [Cohort]
    ) {
        self.room = room
        self.address = address
        self.incarnation = incarnation
        self.index = index
        self.digest = digest
        self.board = board
        self.visible = visible
        self.authors = authors
        self.assembling = assembling
        self.isHibernated = isHibernated
        self.cohorts = cohorts
    }

    enum CodingKeys: String, CodingKey {
        case room, address, incarnation, index, digest, board, visible, authors, assembling, cohorts
        case isHibernated = "asleep"
    }

    /// Whether all names follow the protocol, so that they can be printed on terminals and used in paths.
    public var isWellNamed: Bool {
        RoomID(room) != nil && cohorts.allSatisfy { CohortName($0.cohort) != nil }
            && address.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}
