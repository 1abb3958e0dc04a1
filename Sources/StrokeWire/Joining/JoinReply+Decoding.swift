extension JoinReply {
    private static let keys = ["room", "index", "digest", "palette", "ops", "board", "visible", "redo", "cleared"]

    /// Bytes that a reply may have once its parts are put together.
    public static let maximumBytes = 64 << 20

    /// Reads a reply whose parts were put together. The messages in it are slices of `bytes`, and are not decoded.
    /// - Throws: what of it is at fault. A ``RequestError`` is no reply; look for one first.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Self.keys, limit: Self.maximumBytes)
        room = try body.requiredString("room", limit: 256)
        index = try body.requiredIndex("index")
        digest = try body.required("digest", "16 lower-case hexadecimal digits") { BoardDigest(hexadecimal: $0) }
        palette = try Self.palette(body)
        content = body["ops"] == nil ? try Self.board(body) : .tail(try body.operations("ops"))
    }

    private static func palette(_ body: JSONObject) throws(Rejection) -> Palette {
        var texts: [String] = []
        for token in try body.requiredElements("palette") {
            guard case .string(let range) = token else { throw .wrongType("palette", "an array of strings") }
            texts.append(JSONText.string(range, of: body.bytes.span))
        }
        guard let palette = Palette(texts) else { throw .outOfRange("palette", "1 to 256 colours like #1f4fd8") }
        return palette
    }

    private static func board(_ body: JSONObject) throws(Rejection) -> Content {
        guard let token = body["board"] else { throw .missing("board") }
        let size = try JSONObject(token, of: body.bytes, keeping: ["w", "h"], field: "board")
        guard let width = try size.number("w", in: 1...16384) else { throw .missing("w") }
        guard let height = try size.number("h", in: 1...16384) else { throw .missing("h") }
        var cleared: [ClearedBoard] = []
        for token in try body.elements("cleared") ?? [] {
            let board = try JSONObject(token, of: body.bytes, keeping: ["index", "visible"], field: "cleared")
            cleared.append(
                ClearedBoard(index: try board.requiredIndex("index"), visible: try board.operations("visible")))
        }
        return .board(
            width: width, height: height, visible: try body.operations("visible"),
            redo: try body.operations("redo"), cleared: cleared)
    }
}

extension JSONObject {
    fileprivate func operations(_ name: String) throws(Rejection) -> [JoinedOperation] {
        var operations: [JoinedOperation] = []
        for token in try requiredElements(name) {
            operations.append(try JoinedOperation(token, of: bytes, field: name))
        }
        return operations
    }
}

extension JoinedOperation {
    private static let keys = ["index", "author", "ref", "late", "message"]

    fileprivate init(_ token: JSONToken, of bytes: [UInt8], field: String) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: Self.keys, field: field)
        guard let message = body["message"] else { throw .missing("message") }
        guard case .object(let range) = message else { throw .wrongType("message", "an object") }
        self.init(
            index: try body.requiredIndex("index"),
            author: try body.required("author", "the name of an author") { AuthorID($0) },
            reference: try body.index("ref"), isLate: try body.bool("late") ?? false, message: bytes[range])
    }
}
