/// Whether a cohort's operations wait for a video.
public enum GateState: String, Sendable, Hashable, CaseIterable {
    /// Nothing holds them back: the cohort has no video.
    case open
    /// The cohort's video clock does.
    case video
}

/// Position of a cohort, sent periodically so that students notice the loss of the last operation.
public struct Mark: Sendable, Hashable {
    /// Incarnation of the room.
    public var room: String
    /// Index of the last operation released to the cohort.
    public var index: UInt64
    /// Digest of the board at `index`.
    public var digest: BoardDigest
    /// The page that is shown at `index`.
    public var page: Int
    /// The cohort's video time, nil while unknown.
    public var video: MediaTime?
    /// Whether the cohort has a video; nil at the head, and where the service does not say.
    public var gate: GateState?
    /// At the head: the media time at the teacher now, which strokes are stamped with; nil while unknown.
    public var live: MediaTime?
    /// At the head: an author, and the number through which a checkpoint holds the author's operations, as in
    /// ``Feedback/covered(number:incarnation:)``.
    public var covered: Covered?

    /// See ``covered``.
    public struct Covered: Sendable, Hashable {
        public let author: AuthorID
        /// The `Ink-Session` that the number counts in; nil for an unnamed session.
        public let session: String?
        public let number: Int64

        public init(author: AuthorID, session: String?, number: Int64) {
            (self.author, self.session, self.number) = (author, session, number)
        }
    }

    public init(
        room: String, index: UInt64, digest: BoardDigest, page: Int = 0, video: MediaTime?, gate: GateState? = nil,
        live: MediaTime? = nil, covered: Covered? = nil
    ) {
        (self.covered, self.room, self.index, self.digest) = (covered, room, index, digest)
        (self.page, self.video, self.gate, self.live) = (page, video, gate, live)
    }
}

extension Mark {
    /// Writes the body of a message on `.mark.<cohort>` or `.mark-head`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{")
        bytes.append("room", string: room)
        bytes.append("index", integer: index)
        bytes.append("digest", digest: digest)
        bytes.append("page", integer: page)
        bytes.append(",\"v\":")
        if let video { bytes.append(time: video) } else { bytes.append("null") }
        bytes.append("gate", string: gate?.rawValue)
        bytes.append("live", time: live)
        if let covered {
            bytes.append("author", string: covered.author.text)
            bytes.append("session", string: covered.session)
            bytes.append("covered", integer: covered.number)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads a body as a student's client gets it.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(
            bytes, keeping: ["room", "index", "digest", "page", "v", "gate", "live", "author", "session", "covered"])
        room = try body.requiredString("room", limit: 256)
        index = try body.requiredIndex("index")
        digest = try body.requiredDigest("digest")
        page = try body.page("page") ?? 0
        if case .null? = body["v"] {
            video = nil
        } else {
            let milliseconds = try body.number("v", in: -0x1p53...0x1p53)
            video = milliseconds.flatMap { MediaTime(milliseconds: $0) }
        }
        gate = try body.string("gate", limit: 64).flatMap(GateState.init)
        live = try body.number("live", in: -0x1p53...0x1p53).flatMap { MediaTime(milliseconds: $0) }
        if let number = try body.integer("covered", in: 0...Int64.maxSafeInteger) {
            covered = Covered(
                author: try body.required("author", "the name of an author") { AuthorID($0) },
                session: try body.string("session", limit: 64), number: number)
        } else {
            covered = nil
        }
    }
}
