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
        JSONObject.encoded { body in
            body.append("room", string: room)
            body.append("index", integer: index)
            body.append("digest", digest: digest)
            body.append("page", integer: page)
            body.append("v", timeOrNull: video)
            body.append("gate", string: gate?.rawValue)
            body.append("live", time: live)
            guard let covered else { return }
            body.append("author", string: covered.author.text)
            body.append("session", string: covered.session)
            body.append("covered", integer: covered.number)
        }
    }

    /// Reads a body as a student's client gets it.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(
            bytes, keeping: ["room", "index", "digest", "page", "v", "gate", "live", "author", "session", "covered"]
        ).withoutNulls
        room = try body.requiredString("room", limit: 256)
        index = try body.requiredIndex("index")
        digest = try body.digest("digest").required("digest")
        page = try body.page("page") ?? 0
        video = try body.time("v")
        gate = try body.string("gate", limit: 64).flatMap(GateState.init)
        live = try body.time("live")
        if let number = try body.integer("covered", in: 0...Int64.maxSafeInteger) {
            covered = Covered(
                author: try body.author(),
                session: try body.string("session", limit: 64), number: number)
        } else {
            covered = nil
        }
    }
}
