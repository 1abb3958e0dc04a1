/// Request of a student who joins a cohort: what the student has already.
public struct JoinRequest: Sendable, Hashable {
    /// Incarnation of the room that the student knows, nil for none. `room` on the wire.
    public var incarnation: String?
    /// Index of the last operation that the student has, nil for none. `have`.
    public var have: UInt64?
    /// Form of the reply. `encoding`.
    public var encoding: WireEncoding

    public init(incarnation: String? = nil, have: UInt64? = nil, encoding: WireEncoding = .json) {
        self.incarnation = incarnation
        self.have = have
        self.encoding = encoding
    }
}

extension JoinRequest {
    /// Writes the request, `{}` for a student who has nothing yet.
    public func encoded() -> [UInt8] {
        RequestBody.encoded { body in
            if let incarnation { body.append("room") { $0.append(string: incarnation) } }
            if let have { body.append("have") { $0.append(integer: have) } }
            if encoding != .json { body.append("encoding") { $0.append(string: encoding.rawValue) } }
        }
    }

    /// Reads a request. An empty payload asks for the whole board, as `{}` does.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        guard let body = try RequestBody.decoded(bytes, keeping: ["room", "have", "encoding"]) else { return }
        incarnation = try body.string("room", limit: 256)
        have = try body.index("have")
        guard body["encoding"] != nil else { return }
        encoding = try body.required("encoding", "json or binary") { WireEncoding(rawValue: $0) }
    }
}

/// Request for a picture of the board.
public struct ImageRequest: Sendable, Hashable {
    /// Width in pixels, 1 … 4096; nil for the board's own.
    public var width: Int?

    public init(width: Int? = nil) {
        self.width = width
    }
}

extension ImageRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        RequestBody.encoded { body in
            if let width { body.append("width") { $0.append(integer: width) } }
        }
    }

    /// Reads a request. An empty payload asks for the board's own width, as `{}` does.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        guard let body = try RequestBody.decoded(bytes, keeping: ["width"]) else { return }
        width = try body.integer("width", in: 1...4096).map(Int.init)
    }
}

/// The JSON object that carries a request; an empty payload is the same as `{}`.
private struct RequestBody {
    /// Bytes of a request at most.
    private static let limit = 4096

    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    static func encoded(_ members: (inout RequestBody) -> Void) -> [UInt8] {
        var body = RequestBody()
        members(&body)
        return body.bytes + [UInt8(ascii: "}")]
    }

    mutating func append(_ name: StaticString, _ value: (inout [UInt8]) -> Void) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(name)
        bytes.append("\":")
        value(&bytes)
    }

    /// The object; nil for an empty payload.
    static func decoded(_ bytes: [UInt8], keeping names: [String]) throws(Rejection) -> JSONObject? {
        bytes.isEmpty ? nil : try JSONObject(bytes, keeping: names, limit: limit)
    }
}

/// Error reply to a request.
public struct RequestError: Error, Sendable, Hashable {
    public enum Code: String, Sendable, CaseIterable {
        case unknownRoom = "unknown-room"
        case unknownCohort = "unknown-cohort"
        case badRequest = "bad-request"
        case notReady = "not-ready"
    }

    public let code: Code
    /// One English sentence for a person.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension RequestError {
    /// Writes the reply `{"error":{…}}`.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"error\":{\"code\":")
        bytes.append(string: code.rawValue)
        bytes.append(",\"message\":")
        bytes.append(string: message)
        bytes.append("}}")
        return bytes
    }

    /// Reads a reply.
    /// - Returns: nil if the reply is not such an error.
    public init?(decoding bytes: [UInt8]) {
        guard let body = try? JSONObject(bytes, keeping: ["error"]), let token = body["error"],
            let error = try? JSONObject(token, of: bytes, keeping: ["code", "message"], field: "error"),
            let code = try? error.required("code", "", { Code(rawValue: $0) }),
            let message = try? error.requiredString("message", limit: 4096)
        else { return nil }
        self.init(code, message)
    }
}
