/// Why a message was rejected, and which part of it.
public struct Rejection: Error, Sendable, Hashable {
    public let code: RejectionCode
    /// The faulty part: `n`, `d`, `d[3]`, `d[3].x`; nil if the fault is not in one part.
    public let field: String?
    /// One English sentence for a person.
    public let message: String

    public init(code: RejectionCode, field: String? = nil, message: String) {
        (self.code, self.field, self.message) = (code, field, message)
    }
}

/// Reason of a rejection. The raw value is its name on the wire.
public enum RejectionCode: String, Sendable, CaseIterable {
    case notJSON = "not-json"
    case missingField = "missing-field"
    case wrongType = "wrong-type"
    case outOfRange = "out-of-range"
    case unknownElement = "unknown-element"
    case unknownAction = "unknown-action"
    case tooLarge = "too-large"
    case tooManyPoints = "too-many-points"
    case tooManyShards = "too-many-shards"
    case tooManyPending = "too-many-pending"
    case shardConflict = "shard-conflict"
    case tooLate = "too-late"
    case nothingToUndo = "nothing-to-undo"
    case nothingToRedo = "nothing-to-redo"
    case nothingToRemove = "nothing-to-remove"
    case roomFull = "room-full"
    case rateLimited = "rate-limited"
    case sessionOver = "session-over"
    case muted
    case misaddressed
}

/// The rejections of fields, each with its sentence.
extension Rejection {
    static func missing(_ field: String) -> Rejection {
        Rejection(code: .missingField, field: field, message: "The field \(field) is missing.")
    }

    static func wrongType(_ field: String?, _ expected: String) -> Rejection {
        let subject = field.map { "The field \($0)" } ?? "The message"
        return Rejection(code: .wrongType, field: field, message: "\(subject) has to be \(expected).")
    }

    static func outOfRange(_ field: String, _ expected: String) -> Rejection {
        Rejection(code: .outOfRange, field: field, message: "The field \(field) has to be \(expected).")
    }

    /// A message to a partition that the room is not in; where `address` is nil, on a subject that is no room's.
    public static func misaddressed(to address: RoomAddress?) -> Rejection {
        Rejection(
            code: .misaddressed,
            message: address.map { "The room's address is \($0); ask for it, and send this there." }
                ?? "The subject is not a room's: names have 1 to 64 characters of a-z, 0-9, _ and -.")
    }

    /// A message of `bytes` bytes, where `limit` are allowed.
    public static func tooLarge(bytes: Int, limit: Int) -> Rejection {
        Rejection(code: .tooLarge, message: "The message has \(bytes) bytes, of at most \(limit).")
    }
}

extension Rejection {
    /// Reads the object of a rejection.
    init(_ token: JSONToken, of bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(token, of: bytes, keeping: ["code", "field", "message"], field: "error")
        let code = try body.required("code", "a code of the protocol") { RejectionCode(rawValue: $0) }
        self.init(
            code: code, field: try body.string("field", limit: 1024),
            message: try body.requiredString("message", limit: 4096))
    }
}

extension [UInt8] {
    package mutating func append(rejection: Rejection) {
        appendObject { body in
            body.append("code", string: rejection.code.rawValue)
            body.append("field", string: rejection.field)
            body.append("message", string: rejection.message)
        }
    }
}

/// A message that the decoder rejected, with the number and order that identify it for its author.
public struct MalformedMessage: Error, Sendable, Equatable {
    /// The operation's number, nil if it could not be read.
    public let number: Int64?
    /// The shard's order, nil if it could not be read.
    public let order: Int?
    public let rejection: Rejection

    public init(number: Int64?, order: Int?, rejection: Rejection) {
        (self.number, self.order, self.rejection) = (number, order, rejection)
    }
}
