/// Request of a student who joins a cohort: what the student has already.
public struct JoinRequest: Sendable, Hashable {
    /// How much of the board is asked for.
    public enum Part: Sendable, Hashable {
        /// All of it, or the operations after those that the student has.
        case whole
        /// What one page shows, for those who copy it: without strokes that were undone or cleared. `page`.
        case page(Int)
        /// No strokes: size, colours, pages, features, for those who write. `part`.
        case settings
    }

    /// Incarnation of the room that the student knows, nil for none. `room` on the wire.
    public var incarnation: String?
    /// Index of the last operation that the student has, nil for none. `have`.
    public var have: UInt64?
    /// Position whose board is asked for, nil for the newest. `index`.
    public var index: UInt64?
    /// Form of the reply. `encoding`.
    public var encoding: WireEncoding
    /// How much is asked for. A part is always a board, whatever the student has; services of older releases send all.
    public var part: Part

    public init(
        incarnation: String? = nil, have: UInt64? = nil, index: UInt64? = nil, encoding: WireEncoding = .json,
        part: Part = .whole
    ) {
        (self.incarnation, self.have, self.index) = (incarnation, have, index)
        (self.encoding, self.part) = (encoding, part)
    }
}

extension JoinRequest {
    /// Bytes of this request, and of any other, at most.
    public static let maximumBytes = 4096

    /// Writes the request, `{}` for a student who has nothing yet.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("room", string: incarnation)
            body.append("have", integer: have)
            body.append("index", integer: index)
            if encoding != .json { body.append("encoding", string: encoding.rawValue) }
            switch part {
            case .whole: break
            case .page(let page): body.append("page", integer: page)
            case .settings: body.append("part", string: "settings")
            }
        }
    }

    /// Reads a request. An empty payload asks for the whole board, as `{}` does.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        let names = ["room", "have", "index", "encoding", "page", "part"]
        guard let body = try RequestBody.decoded(bytes, keeping: names) else { return }
        incarnation = try body.string("room", limit: 256)
        have = try body.index("have")
        index = try body.index("index")
        if let page = try body.page("page") { part = .page(page) }
        part = try body.value("part", "settings") { $0 == "settings" ? .settings : nil } ?? part
        encoding = try body.value("encoding", "json or binary") { WireEncoding(rawValue: $0) } ?? encoding
    }
}

/// Request for a picture of the board.
public struct ImageRequest: Sendable, Hashable {
    /// Width in pixels, 1 … 4096; nil for the board's own. InkML has none. `width` on the wire.
    public var width: Int?
    /// The part of the board that is shown, of a PNG alone; nil for all of it. `x`, `y`, `w` and `h`, all four or none.
    public var part: BoardPart?
    /// File format. `format`.
    public var format: PictureFormat
    /// What is below the ink; a PDF is always white, and InkML is ink alone. `background`.
    public var background: PictureBackground
    /// Page of the room, 0 … 999; nil for the page shown. `page`.
    public var page: Int?
    /// Whether the paper is drawn under the ink; InkML tells of it in any case. `paper`.
    public var hasPaper: Bool
    /// Incarnation of the room that the picture has to be of, nil for any. `room`.
    public var incarnation: String?
    /// Position whose board is asked for, nil for the newest. `index`.
    public var index: UInt64?
    /// Tag of a picture that the client has, or `*` for any: where the tag is still right, the reply has headers and no
    /// picture. `unless`.
    public var unless: String?

    public init(
        width: Int? = nil, part: BoardPart? = nil, format: PictureFormat = .png, background: PictureBackground = .white,
        page: Int? = nil, hasPaper: Bool = true, incarnation: String? = nil, index: UInt64? = nil,
        unless: String? = nil
    ) {
        (self.width, self.part, self.format, self.background, self.page) = (width, part, format, background, page)
        (self.hasPaper, self.incarnation, self.index, self.unless) = (hasPaper, incarnation, index, unless)
    }
}

/// A rectangle of a board, in whole board units from its upper left corner. What lies beyond the board is not shown.
public struct BoardPart: Sendable, Hashable {
    /// Where its left and upper edges may be.
    public static let places = 0...16_383
    /// How long its sides may be.
    public static let lengths = 1...16_384

    /// The left edge, 0 … 16383.
    public let x: Int
    /// The upper edge, 0 … 16383.
    public let y: Int
    /// 1 … 16384.
    public let width: Int
    /// 1 … 16384.
    public let height: Int

    /// Makes a part; nil where a number is out of its range.
    public init?(x: Int, y: Int, width: Int, height: Int) {
        guard Self.places.contains(x), Self.places.contains(y), Self.lengths.contains(width),
            Self.lengths.contains(height)
        else { return nil }
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

/// The file format of a picture. The raw value is its name on the wire, and the file extension.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case png, svg, pdf, inkml

    /// Whether it is a document with images in it, for which the service waits longer.
    package var isDocument: Bool { self == .svg || self == .pdf }
}

/// What is below the ink of a picture. The raw value is its name on the wire.
public enum PictureBackground: String, Sendable, Hashable, CaseIterable {
    case white, transparent
}

extension ImageRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("width", integer: width)
            if let part {
                body.append("x", integer: part.x)
                body.append("y", integer: part.y)
                body.append("w", integer: part.width)
                body.append("h", integer: part.height)
            }
            if format != .png { body.append("format", string: format.rawValue) }
            body.append("room", string: incarnation)
            body.append("index", integer: index)
            body.append("page", integer: page)
            if background != .white { body.append("background", string: background.rawValue) }
            body.append("paper", bool: hasPaper ? nil : false)
            body.append("unless", string: unless)
        }
    }

    private static let names = [
        "width", "x", "y", "w", "h", "format", "room", "index", "page", "background", "paper", "unless",
    ]

    /// Reads a request. An empty payload asks for the board's own width, as `{}` does.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        guard let body = try RequestBody.decoded(bytes, keeping: Self.names) else { return }
        width = try body.integer("width", in: 1...4096)
        if ["x", "y", "w", "h"].contains(where: { body[$0] != nil }) {
            part = BoardPart(
                x: try body.integer("x", in: BoardPart.places).required("x"),
                y: try body.integer("y", in: BoardPart.places).required("y"),
                width: try body.integer("w", in: BoardPart.lengths).required("w"),
                height: try body.integer("h", in: BoardPart.lengths).required("h"))
        }
        format = try body.value("format", "png, svg, pdf or inkml") { PictureFormat(rawValue: $0) } ?? format
        incarnation = try body.string("room", limit: 256)
        index = try body.index("index")
        page = try body.page("page")
        background =
            try body.value("background", "white or transparent") { PictureBackground(rawValue: $0) } ?? background
        hasPaper = try body.bool("paper") ?? true
        unless = try body.string("unless", limit: 512)
    }
}

/// Request for a picture of a page of an asset, always a PNG.
public struct AssetPageRequest: Sendable, Hashable {
    /// The asset. `id` on the wire.
    public var id: AssetID
    /// From 0, ``AssetID/pages``. `page`.
    public var page: Int
    /// Width in pixels, 1 … 4096; nil for the page's own. `width`.
    public var width: Int?
    /// Tag of a picture that the client has, as in ``ImageRequest/unless``.
    public var unless: String?

    public init(id: AssetID, page: Int = 0, width: Int? = nil, unless: String? = nil) {
        (self.id, self.page, self.width, self.unless) = (id, page, width, unless)
    }
}

extension AssetPageRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("id", string: id.description)
            if page != 0 { body.append("page", integer: page) }
            body.append("width", integer: width)
            body.append("unless", string: unless)
        }
    }

    /// Reads a request.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        guard let body = try RequestBody.decoded(bytes, keeping: ["id", "page", "width", "unless"]) else {
            throw .missing("id")
        }
        id = try body.required("id", "64 lower-case hexadecimal digits") { AssetID(hexadecimal: $0) }
        page = try body.integer("page", in: AssetID.pages) ?? 0
        width = try body.integer("width", in: 1...4096)
        unless = try body.string("unless", limit: 512)
    }
}

/// The JSON object that carries a request; an empty payload is the same as `{}`.
enum RequestBody {
    /// The object; nil for an empty payload.
    static func decoded(_ bytes: [UInt8], keeping names: [String]) throws(Rejection) -> JSONObject? {
        bytes.isEmpty ? nil : try JSONObject(bytes, keeping: names, limit: JoinRequest.maximumBytes)
    }
}

/// Error reply to a request.
public struct RequestError: Error, Sendable, Hashable {
    /// The reason, as a fixed word for programs.
    public enum Code: String, Sendable, CaseIterable {
        case unknownRoom = "unknown-room"
        case unknownCohort = "unknown-cohort"
        /// The position is beyond what may be seen, or the log no longer holds it.
        case unknownIndex = "unknown-index"
        case badRequest = "bad-request"
        /// The reply would be too large.
        case tooLarge = "too-large"
        case notReady = "not-ready"
        /// The log no longer holds the beginning of the lesson.
        case gone
        /// There is no such page of an asset, or it must not be seen yet.
        case unknownAsset = "unknown-asset"
        /// The asset's page cannot be read.
        case unreadable
        /// Assets cannot be opened safely on the service's machine.
        case noSandbox = "no-sandbox"
        /// The service has no journal, which this needs.
        case noJournal = "no-journal"
        /// There are as many revocations as may be.
        case listFull = "list-full"
    }

    public let code: Code
    /// One English sentence for a person.
    public let message: String
    /// Of ``Code/badRequest`` for an address with the wrong partition: how many the service has. Services of older releases
    /// leave it out.
    public let partitions: Int?

    public init(_ code: Code, _ message: String, partitions: Int? = nil) {
        (self.code, self.message, self.partitions) = (code, message, partitions)
    }
}

extension RequestError {
    /// Writes the reply `{"error":{…}}`.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.appendObject("error") { error in
                error.append("code", string: code.rawValue)
                error.append("message", string: message)
                error.append("partitions", integer: partitions)
            }
        }
    }

    /// Reads a reply.
    /// - Returns: nil if the reply is not such an error.
    public init?(decoding bytes: [UInt8]) {
        guard let body = try? JSONObject(bytes, keeping: ["error"]), let token = body["error"],
            let error = try? JSONObject(token, of: bytes, keeping: ["code", "message", "partitions"], field: "error"),
            let code = try? error.required("code", "", { Code(rawValue: $0) }),
            let message = try? error.requiredString("message", limit: 4096)
        else { return nil }
        self.init(code, message, partitions: try? error.integer("partitions", in: 1...Int(Int32.max)))
    }
}
