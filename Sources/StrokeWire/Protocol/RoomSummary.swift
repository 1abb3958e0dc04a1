/// State of a room, in the replies to `<address>.info` and `<root>.rooms`.
///
/// A hibernated room is not in memory: digest, board and visible strokes are missing, authors and assembling are 0. Older
/// services may leave out more.
public struct RoomSummary: Sendable, Hashable {
    /// A board's size in its own units.
    public struct Size: Sendable, Hashable {
        public let width: Double
        public let height: Double

        public init(width: Double, height: Double) { (self.width, self.height) = (width, height) }
    }

    /// A cohort of the room.
    public struct Cohort: Sendable, Hashable {
        /// Its name.
        public let cohort: String
        /// Index of the last operation released to it.
        public let index: UInt64
        /// Number of operations that wait for its video.
        public let held: Int
        /// Media time of its video in milliseconds; nil, and `null` in JSON, while unknown.
        public let video: Double?
        /// Whether samples of its clock come; nil where the service does not say.
        public let isLive: Bool?
        /// Whether it has a video; nil where the service does not say.
        public let gate: GateState?
        /// How long before now the picture that it sees was taken at the teacher, in milliseconds, as its clock says; nil
        /// where that does not.
        public let age: Double?

        public init(
            cohort: String, index: UInt64, held: Int, video: Double?, isLive: Bool? = nil, gate: GateState? = nil,
            age: Double? = nil
        ) {
            (self.cohort, self.index, self.held, self.video) = (cohort, index, held, video)
            (self.isLive, self.gate, self.age) = (isLive, gate, age)
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
    /// The authors that were heard last, the last first, at most 64; nil in lists of rooms.
    public let writers: [String]?
    /// Muted authors by name; nil where there is none, or in a room that is not in memory.
    public let muted: [String]?
    /// Number of strokes whose shards are still arriving.
    public let assembling: Int?
    /// Whether the service has evicted it from memory; nil means no.
    public let isHibernated: Bool?
    /// The media time at the teacher now in milliseconds, which strokes are stamped with; nil while unknown.
    public let live: Double?
    /// Authors some of whose operations of the last minute have times below that, by name: their ink runs ahead of the
    /// voice. Nil where there is none.
    public let behindLive: [String]?
    /// Its cohorts.
    public let cohorts: [Cohort]

    public init(
        room: String, address: String, incarnation: String? = nil, index: UInt64, digest: String? = nil,
        board: Size? = nil, visible: Int? = nil, authors: Int? = nil, writers: [String]? = nil,
        muted: [String]? = nil, assembling: Int? = nil, isHibernated: Bool? = nil,
        live: Double? = nil, behindLive: [String]? = nil, cohorts: [Cohort]
    ) {
        (self.room, self.address, self.incarnation, self.index) = (room, address, incarnation, index)
        (self.digest, self.board, self.visible, self.authors) = (digest, board, visible, authors)
        (self.writers, self.muted, self.assembling, self.isHibernated) = (writers, muted, assembling, isHibernated)
        (self.live, self.behindLive, self.cohorts) = (live, behindLive, cohorts)
    }

    /// Whether all names follow the protocol, so that they can be printed on terminals and used in paths.
    public var isWellNamed: Bool {
        RoomID(room) != nil
            && ((writers ?? []) + (muted ?? []) + (behindLive ?? [])).allSatisfy { AuthorID($0) != nil }
            && cohorts.allSatisfy { CohortName($0.cohort) != nil }
            && address.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }
}

extension RoomSummary {
    /// Media time of the cohort whose video is farthest, in whole milliseconds, of those whose clocks are live; nil where
    /// none is.
    public var fastestVideo: Int64? {
        let times = cohorts.compactMap { $0.isLive ?? true ? $0.video : nil }
        return times.max().flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// Writes a line of the list, or the reply to `<address>.info`. What is nil is left out.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return bytes
    }

    /// Appends the same: members in the order of their names.
    public func encode(into bytes: inout [UInt8]) {
        bytes.appendObject { body in
            body.append("address", string: address)
            body.append("asleep", bool: isHibernated)
            body.append("assembling", integer: assembling)
            body.append("authors", integer: authors)
            body.append("behind_live", list: behindLive) { $0.append(string: $1) }
            if let board {
                body.appendObject("board") { body in
                    body.append("h", number: board.height)
                    body.append("w", number: board.width)
                }
            }
            body.append("cohorts", list: cohorts) { $1.encode(into: &$0) }
            body.append("digest", string: digest)
            body.append("incarnation", string: incarnation)
            body.append("index", integer: index)
            body.append("live", number: live)
            body.append("muted", list: muted) { $0.append(string: $1) }
            body.append("room", string: room)
            body.append("visible", integer: visible)
            body.append("writers", list: writers) { $0.append(string: $1) }
        }
    }

    static let keys = [
        "room", "address", "incarnation", "index", "digest", "board", "visible", "authors", "writers", "muted",
        "assembling", "live", "behind_live", "asleep", "cohorts",
    ]

    /// Reads what ``encoded()`` writes.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(JSONObject(bytes, keeping: Self.keys, limit: .max))
    }

    /// - Parameter body: with ``keys``.
    init(_ body: JSONObject) throws(Rejection) {
        let body = body.withoutNulls
        let cohorts = try body.objects("cohorts", keeping: Cohort.keys) { body throws(Rejection) in try Cohort(body) }
        try self.init(
            room: body.requiredString("room", limit: .max), address: body.requiredString("address", limit: .max),
            incarnation: body.string("incarnation", limit: .max), index: body.requiredIndex("index"),
            digest: body.string("digest", limit: .max),
            board: body["board"].map { (token) throws(Rejection) in try Size(token, of: body.bytes) },
            visible: body.count("visible"), authors: body.count("authors"), writers: body.strings("writers"),
            muted: body.strings("muted"), assembling: body.count("assembling"), isHibernated: body.bool("asleep"),
            live: body.number("live"), behindLive: body.strings("behind_live"), cohorts: cohorts.required("cohorts"))
    }
}

extension RoomSummary.Size {
    fileprivate init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: ["w", "h"], field: "board")
        try self.init(width: body.number("w").required("w"), height: body.number("h").required("h"))
    }
}

extension RoomSummary.Cohort {
    fileprivate func encode(into bytes: inout [UInt8]) {
        bytes.appendObject { body in
            body.append("age", number: age)
            body.append("cohort", string: cohort)
            body.append("gate", string: gate?.rawValue)
            body.append("held", integer: held)
            body.append("index", integer: index)
            body.append("live", bool: isLive)
            body.append(name: "v")
            if let video { body.append(number: video) } else { body.append("null") }
        }
    }

    fileprivate static let keys = ["cohort", "index", "held", "v", "live", "gate", "age"]

    fileprivate init(_ body: JSONObject) throws(Rejection) {
        let body = body.withoutNulls
        try self.init(
            cohort: body.requiredString("cohort", limit: .max), index: body.requiredIndex("index"),
            held: body.count("held").required("held"), video: body.number("v"), isLive: body.bool("live"),
            gate: body.string("gate", limit: .max).flatMap(GateState.init), age: body.number("age"))
    }
}
