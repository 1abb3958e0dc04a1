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
        bytes.append("{")
        bytes.append("address", string: address)
        bytes.append("asleep", bool: isHibernated)
        bytes.append("assembling", integer: assembling)
        bytes.append("authors", integer: authors)
        bytes.append("behind_live", list: behindLive) { $0.append(string: $1) }
        if let board {
            bytes.append(",\"board\":{\"h\":")
            bytes.append(number: board.height)
            bytes.append("w", number: board.width)
            bytes.append("}")
        }
        bytes.append("cohorts", list: cohorts) { $1.encode(into: &$0) }
        bytes.append("digest", string: digest)
        bytes.append("incarnation", string: incarnation)
        bytes.append("index", integer: index)
        bytes.append("live", number: live)
        bytes.append("muted", list: muted) { $0.append(string: $1) }
        bytes.append("room", string: room)
        bytes.append("visible", integer: visible)
        bytes.append("writers", list: writers) { $0.append(string: $1) }
        bytes.append("}")
    }

    /// Reads what ``encoded()`` writes.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self = try JSONStream.read(bytes) { stream throws(Rejection) in try RoomSummary(&stream) }
    }

    init(_ stream: inout JSONStream) throws(Rejection) {
        var (room, address): (String?, String?)
        var (incarnation, digest): (String?, String?)
        var index: UInt64?
        var board: Size?
        var (visible, authors, assembling): (Int?, Int?, Int?)
        var (writers, muted): ([String]?, [String]?)
        var isHibernated: Bool?
        var live: Double?
        var behindLive: [String]?
        var cohorts: [Cohort]?
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "room": room = try stream.string(key)
            case "address": address = try stream.string(key)
            case "incarnation": incarnation = try stream.optionalString(key)
            case "digest": digest = try stream.optionalString(key)
            case "index": index = try stream.index(key)
            case "board": board = try stream.takeNull() ? nil : Size(&stream)
            case "visible": visible = try stream.optionalCount(key)
            case "authors": authors = try stream.optionalCount(key)
            case "writers": writers = try stream.strings(key)
            case "muted": muted = try stream.strings(key)
            case "assembling": assembling = try stream.optionalCount(key)
            case "live": live = try stream.optionalNumber(key)
            case "behind_live": behindLive = try stream.strings(key)
            case "asleep": isHibernated = try stream.optionalBool(key)
            case "cohorts":
                var list: [Cohort] = []
                try stream.takeArray { stream throws(Rejection) in list.append(try Cohort(&stream)) }
                cohorts = list
            default: try stream.skip()
            }
        }
        try self.init(
            room: room.required("room"), address: address.required("address"), incarnation: incarnation,
            index: index.required("index"), digest: digest, board: board, visible: visible, authors: authors,
            writers: writers, muted: muted, assembling: assembling, isHibernated: isHibernated, live: live,
            behindLive: behindLive, cohorts: cohorts.required("cohorts"))
    }
}

extension RoomSummary.Size {
    fileprivate init(_ stream: inout JSONStream) throws(Rejection) {
        var (width, height): (Double?, Double?)
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "w": width = try stream.optionalNumber(key)
            case "h": height = try stream.optionalNumber(key)
            default: try stream.skip()
            }
        }
        try self.init(width: width.required("w"), height: height.required("h"))
    }
}

extension RoomSummary.Cohort {
    fileprivate func encode(into bytes: inout [UInt8]) {
        bytes.append("{")
        if let age {
            bytes.append("\"age\":")
            bytes.append(number: age)
            bytes.append(",")
        }
        bytes.append("\"cohort\":")
        bytes.append(string: cohort)
        bytes.append("gate", string: gate?.rawValue)
        bytes.append("held", integer: held)
        bytes.append("index", integer: index)
        bytes.append("live", bool: isLive)
        bytes.append(",\"v\":")
        if let video { bytes.append(number: video) } else { bytes.append("null") }
        bytes.append("}")
    }

    fileprivate init(_ stream: inout JSONStream) throws(Rejection) {
        var cohort: String?
        var index: UInt64?
        var held: Int?
        var video: Double?
        var isLive: Bool?
        var gate: GateState?
        var age: Double?
        try stream.takeObject { key, stream throws(Rejection) in
            switch key {
            case "cohort": cohort = try stream.string(key)
            case "index": index = try stream.index(key)
            case "held": held = try stream.optionalCount(key)
            case "v": video = try stream.optionalNumber(key)
            case "gate": gate = try stream.optionalString(key).flatMap(GateState.init)
            case "age": age = try stream.optionalNumber(key)
            case "live": isLive = try stream.optionalBool(key)
            default: try stream.skip()
            }
        }
        try self.init(
            cohort: cohort.required("cohort"), index: index.required("index"), held: held.required("held"),
            video: video, isLive: isLive, gate: gate, age: age)
    }
}
