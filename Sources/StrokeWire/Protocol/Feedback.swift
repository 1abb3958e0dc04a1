/// What the service tells an author about its operations.
public enum Feedback: Sendable, Hashable {
    /// The operation was applied and has this index.
    case applied(number: Int64, index: UInt64)
    /// These shards of a stroke have not arrived.
    case missingShards(number: Int64, orders: [Int])
    /// These operations, both ends included, have not arrived.
    case missingRange(from: Int64, to: Int64)
    /// These operations, both ends included, are no longer waited for.
    case gaveUp(from: Int64, to: Int64)
    /// A message was not accepted. Number and order are nil if they could not be read.
    case rejected(number: Int64?, order: Int?, Rejection)
    /// A stored checkpoint holds the author's operations through this one, in the room's incarnation: they outlast a log that
    /// loses its end. Another incarnation than before has lost those after it that its author does not give again.
    case covered(number: Int64, incarnation: String)
    /// The operation has a time that lies this many milliseconds below the media time at the teacher, as it was when the
    /// operation was logged: the ink runs ahead of the voice. At most once a minute.
    case behindLive(number: Int64, milliseconds: Int64)
}

/// Feedback and the session that it is about.
public struct FeedbackMessage: Sendable, Hashable {
    /// The `Ink-Session` that it is about; nil for an unnamed session.
    public let session: String?
    public let feedback: Feedback

    public init(session: String?, feedback: Feedback) {
        (self.session, self.feedback) = (session, feedback)
    }
}

extension Feedback {
    fileprivate static let keys = [
        "kind", "n", "o", "index", "from", "to", "error", "session", "room", "hint", "behind",
    ]

    /// Writes the body of a message on `.feedback.<author>`.
    /// - Parameter session: the `Ink-Session` that it is about; nil for an unnamed session.
    public func encoded(session: String? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        encode(session: session, into: &bytes)
        return bytes
    }

    /// Appends what ``encoded(session:)`` returns.
    public func encode(session: String?, into bytes: inout [UInt8]) {
        bytes.appendObject { body in
            switch self {
            case .applied(let number, let index):
                body.append("kind", string: "applied")
                body.append("n", integer: number)
                body.append("index", integer: index)
            case .missingShards(let number, let orders):
                body.append("kind", string: "missing")
                body.append("n", integer: number)
                body.append("o", list: orders) { $0.append(integer: $1) }
            case .missingRange(let from, let to):
                body.append("kind", string: "missing")
                body.append("from", integer: from)
                body.append("to", integer: to)
            case .gaveUp(let from, let to):
                body.append("kind", string: "gave-up")
                body.append("from", integer: from)
                body.append("to", integer: to)
            case .rejected(let number, let order, let rejection):
                body.append("kind", string: "rejected")
                body.append("n", integer: number)
                body.append("o", integer: order)
                body.append(name: "error")
                body.append(rejection: rejection)
            case .covered(let number, let incarnation):
                body.append("kind", string: "covered")
                body.append("n", integer: number)
                body.append("room", string: incarnation)
            case .behindLive(let number, let milliseconds):
                body.append("kind", string: "hint")
                body.append("hint", string: "behind-live")
                body.append("n", integer: number)
                body.append("behind", integer: min(milliseconds, .maxSafeInteger))
            }
            body.append("session", string: session)
        }
    }

    /// Reads a body as an author's client gets it, and ignores its session; see ``FeedbackMessage``.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(try JSONObject(bytes, keeping: Self.keys))
    }

    fileprivate init(_ body: JSONObject) throws(Rejection) {
        func number() throws(Rejection) -> Int64 { try body.requiredInteger("n", in: 0...Int64.maxSafeInteger) }
        switch try body.requiredString("kind", limit: 64) {
        case "applied":
            self = .applied(number: try number(), index: try body.requiredIndex("index"))
        case "missing" where body["o"] != nil:
            self = .missingShards(
                number: try number(),
                orders: try body.integers("o", in: 0...Int64(Int32.max), atMost: .max).required("o").map { Int($0) })
        case "missing":
            let (from, to) = try Self.range(body)
            self = .missingRange(from: from, to: to)
        case "gave-up":
            let (from, to) = try Self.range(body)
            self = .gaveUp(from: from, to: to)
        case "rejected":
            let error = try body["error"].required("error")
            self = .rejected(
                number: try body.integer("n", in: 0...Int64.maxSafeInteger), order: try body.count("o"),
                try Rejection(error, of: body.bytes))
        case "covered":
            self = .covered(
                number: try number(),
                incarnation: try body.requiredString("room", limit: 256))
        case "hint":
            guard try body.requiredString("hint", limit: 64) == "behind-live" else {
                throw .outOfRange("hint", "behind-live")
            }
            self = .behindLive(
                number: try number(),
                milliseconds: try body.requiredInteger("behind", in: 0...Int64.maxSafeInteger))
        default:
            throw .outOfRange("kind", "applied, missing, gave-up, rejected, covered or hint")
        }
    }

    private static func range(_ body: JSONObject) throws(Rejection) -> (from: Int64, to: Int64) {
        let from = try body.requiredInteger("from", in: 0...Int64.maxSafeInteger)
        return (from, try body.requiredInteger("to", in: from...Int64.maxSafeInteger))
    }
}

extension FeedbackMessage {
    /// Writes the body of a message on `.feedback.<author>`.
    public func encoded() -> [UInt8] { feedback.encoded(session: session) }

    /// Reads a body as an author's client gets it.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: Feedback.keys)
        self.init(session: try body.string("session", limit: 64), feedback: try Feedback(body))
    }
}
