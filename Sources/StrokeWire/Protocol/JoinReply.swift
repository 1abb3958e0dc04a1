/// Reply to a join request as a client reads it: brings the student to the state of the cohort.
public struct JoinReply: Sendable, Hashable {
    /// The missed operations, or the whole board.
    public enum Content: Sendable, Hashable {
        /// The operations after those that the student has.
        case tail([JoinedOperation])
        /// The whole board. `visible` runs bottom to top, the last of `redo` is the next to be done again, and
        /// `cleared` holds what clears and removals took away that can be undone, oldest first.
        case board(
            width: Double, height: Double, visible: [JoinedOperation], redo: [JoinedOperation],
            cleared: [ClearedBoard])
    }

    /// Incarnation of the room, empty if nobody has written to it.
    public var room: String
    /// The cohort's cursor: index of the last operation released to it.
    public var index: UInt64
    /// Digest of the board at `index`.
    public var digest: BoardDigest
    public var palette: Palette
    /// Name of the ink style in force.
    public var style: String
    /// Whether the first draw will still decide the board's size.
    public var isProvisional: Bool
    /// The pages at `index`; page 0 alone where the reply names none.
    public var pages: BoardPages
    /// What the service offers beyond strokes on one page; nil where the reply does not say: in the binary form, and in
    /// replies of older services.
    public var features: BoardFeatures?
    /// Whether the cohort's operations wait for a video; nil where the reply does not say: at the head, for a board of the
    /// past, in the binary form, and in replies of older services.
    public var gate: GateState?
    public var content: Content

    public init(
        room: String, index: UInt64, digest: BoardDigest, palette: Palette, style: String, isProvisional: Bool = false,
        pages: BoardPages = BoardPages(), features: BoardFeatures? = nil, gate: GateState? = nil, content: Content
    ) {
        (self.room, self.index, self.digest, self.palette) = (room, index, digest, palette)
        (self.style, self.isProvisional, self.pages) = (style, isProvisional, pages)
        (self.features, self.gate, self.content) = (features, gate, content)
    }
}

/// An operation in a join reply.
public struct JoinedOperation: Sendable, Hashable {
    /// The operation's place in the room.
    public var index: UInt64
    public var author: AuthorID
    /// Of an undo or redo: the operation that it moved.
    public var reference: UInt64?
    /// Whether the stroke came after it had been given up. Release by a policy shows in the header `Ink-Late` only.
    public var isLate: Bool
    /// Digest of the board after it, in a tail; nil in a board, which has one for all.
    public var digest: BoardDigest?
    /// The page that it concerns; of an arrange the one shown after it.
    public var page: Int
    /// The compact message, byte for byte.
    public var message: ArraySlice<UInt8>

    public init(
        index: UInt64, author: AuthorID, reference: UInt64? = nil, isLate: Bool = false, digest: BoardDigest? = nil,
        page: Int = 0, message: ArraySlice<UInt8>
    ) {
        (self.index, self.author, self.reference, self.isLate) = (index, author, reference, isLate)
        (self.digest, self.page, self.message) = (digest, page, message)
    }
}

/// Strokes that a clear or a removal took away: students who join need them if it is undone.
public struct ClearedBoard: Sendable, Hashable {
    /// Index of the clear or the removal.
    public var index: UInt64
    /// The page that it concerned.
    public var page: Int
    /// Of a removal: the indices that it names, which a redo removes again. nil for a clear.
    public var indices: [UInt64]?
    /// The strokes that it took away, bottom to top.
    public var visible: [JoinedOperation]

    public init(index: UInt64, page: Int = 0, indices: [UInt64]? = nil, visible: [JoinedOperation]) {
        (self.index, self.page, self.indices, self.visible) = (index, page, indices, visible)
    }
}

extension JoinReply {
    private static let keys = [
        "room", "index", "digest", "palette", "style", "ops", "board", "provisional", "visible", "redo", "cleared",
        "pages", "features", "gate",
    ]

    /// Size limit of a reply in bytes, once its parts are joined: enough for every board of up to 4,000,000 points, as rooms
    /// count them (`limits.board_points`).
    public static let maximumBytes = 192 << 20

    /// Reads a reply whose parts were joined. Its messages are slices of `bytes`, not decoded.
    /// - Throws: the first fault. A ``RequestError`` is not a reply; look for one first.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys, limit: Self.maximumBytes)
        room = try body.requiredString("room", limit: 256)
        index = try body.requiredIndex("index")
        digest = try body.digest("digest").required("digest")
        palette = try Palette(body.strings("palette").required("palette"))
            .required(orOutOfRange: "palette", "1 to 256 colours like #1f4fd8")
        style = try body.requiredString("style", limit: 64)
        isProvisional = try body.bool("provisional") ?? false
        pages = try body["pages"].map { (token) throws(Rejection) in try BoardPages(token, of: bytes) } ?? BoardPages()
        features = try body.strings("features").map { BoardFeatures(names: $0) }
        gate = try body.string("gate", limit: 64).flatMap(GateState.init)
        content = body["ops"] == nil ? try Self.board(body) : .tail(try body.operations("ops"))
    }

    private static func board(_ body: JSONObject) throws(Rejection) -> Content {
        let size = try JSONObject(
            body["board"].required("board"), of: body.bytes, keeping: ["w", "h"], field: "board")
        let width = try size.number("w", in: 1...16384).required("w")
        let height = try size.number("h", in: 1...16384).required("h")
        let cleared = try body.objects("cleared", keeping: ["index", "page", "v", "visible"]) {
            board throws(Rejection) in
            ClearedBoard(
                index: try board.requiredIndex("index"), page: try board.page("page") ?? 0,
                indices: try board.indices("v"), visible: try board.operations("visible"))
        }
        return .board(
            width: width, height: height, visible: try body.operations("visible"),
            redo: try body.operations("redo"), cleared: cleared ?? [])
    }
}

extension JSONObject {
    fileprivate func indices(_ name: String) throws(Rejection) -> [UInt64]? {
        try integers(name, in: 1...Int64.maxSafeInteger, atMost: StrokeMessage.removalBound)?.map { UInt64($0) }
    }

    fileprivate func operations(_ name: String) throws(Rejection) -> [JoinedOperation] {
        try objects(name, keeping: JoinedOperation.keys) { body throws(Rejection) in try JoinedOperation(body) }
            .required(name)
    }
}

extension JoinedOperation {
    fileprivate static let keys = ["index", "author", "ref", "late", "digest", "page", "message"]

    /// Reads an operation as it stands in a reply, by itself: the data of an event `op`.
    /// - Throws: the first fault.
    package init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(JSONObject(bytes, keeping: Self.keys, limit: JoinReply.maximumBytes))
    }

    init(_ token: JSONToken, of bytes: [UInt8], field: String) throws(Rejection) {
        try self.init(JSONObject(token, of: bytes, keeping: Self.keys, field: field))
    }

    fileprivate init(_ body: JSONObject) throws(Rejection) {
        guard case .object(let range) = try body["message"].required("message") else {
            throw .wrongType("message", "an object")
        }
        self.init(
            index: try body.requiredIndex("index"),
            author: try body.author(),
            reference: try body.index("ref"), isLate: try body.bool("late") ?? false, digest: try body.digest("digest"),
            page: try body.page("page") ?? 0, message: body.bytes[range])
    }
}

/// Writes a join reply operation by operation: the sequences of operations may be lazy, and are not stored.
public struct JoinReplyWriter: Sendable {
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - room: incarnation of the room, empty if nobody has written to it.
    ///   - index: the cohort's cursor.
    ///   - digest: that of the board at `index`.
    ///   - palette: the colours in force.
    ///   - style: name of the ink style in force.
    ///   - pages: the pages at `index`.
    ///   - features: what the service offers; left out where nil.
    ///   - gate: whether the cohort's operations wait for a video; left out where nil.
    public init(
        room: String, index: UInt64, digest: BoardDigest, palette: Palette, style: String,
        pages: BoardPages = BoardPages(), features: BoardFeatures? = nil, gate: GateState? = nil
    ) {
        bytes.append("{")
        bytes.append("room", string: room)
        bytes.append("index", integer: index)
        bytes.append("digest", digest: digest)
        bytes.append("palette", list: palette.texts) { $0.append(string: $1) }
        bytes.append("style", string: style)
        bytes.append(name: "pages")
        bytes.append(pages: pages)
        bytes.append("features", list: features?.names) { $0.append(string: $1) }
        bytes.append("gate", string: gate?.rawValue)
    }

    /// The reply with the operations after those that the student has.
    public consuming func tail(_ operations: some Sequence<JoinedOperation>) -> [UInt8] {
        bytes.append("ops", operations: operations)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The reply with the whole board.
    /// - Parameters:
    ///   - width: the board's, in board units.
    ///   - height: the board's, in board units.
    ///   - isProvisional: whether the first draw will still decide the size.
    ///   - visible: bottom to top.
    ///   - redo: the next to be done again last.
    ///   - cleared: what clears and removals took away that can be undone, oldest first; the key is left out if there are
    ///     none.
    public consuming func board(
        width: Double, height: Double, isProvisional: Bool = false, visible: some Sequence<JoinedOperation>,
        redo: some Sequence<JoinedOperation>,
        cleared: some Collection<ClearedBoard> = EmptyCollection<ClearedBoard>()
    ) -> [UInt8] {
        bytes.appendObject("board") { body in
            body.append("w", number: width)
            body.append("h", number: height)
        }
        bytes.append("provisional", bool: isProvisional ? true : nil)
        bytes.append("visible", operations: visible)
        bytes.append("redo", operations: redo)
        bytes.append("cleared", list: cleared.isEmpty ? nil : cleared) { bytes, board in
            bytes.appendObject { body in
                body.append("index", integer: board.index)
                body.append("page", integer: board.page)
                body.append("v", list: board.indices) { $0.append(integer: $1) }
                body.append("visible", operations: board.visible)
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ name: StaticString, operations: some Sequence<JoinedOperation>) {
        append(name, list: operations) { bytes, operation in bytes.appendObject { $0.append(members: operation) } }
    }

    /// What stands between the braces of an operation.
    mutating func append(members operation: JoinedOperation) {
        append("index", integer: operation.index)
        append("author", string: operation.author.text)
        append("ref", integer: operation.reference)
        append("late", bool: operation.isLate ? true : nil)
        append("digest", digest: operation.digest)
        append("page", integer: operation.page)
        append(name: "message")
        append(contentsOf: operation.message)
    }
}
