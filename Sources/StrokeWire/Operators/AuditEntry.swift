/// A command in the audit log: who asked for what, and what became of it.
///
/// It is recorded twice under the same id: before it is carried out, without an outcome, and afterwards with one. A command
/// whose second record is missing may have been carried out: the daemon ended meanwhile, or it is under way.
public struct AuditEntry: Sendable, Hashable {
    /// What became of a command. The raw value is its name on the wire.
    public enum Outcome: String, Sendable, Hashable {
        case done, failed
    }

    /// When it was recorded, in milliseconds since 1970; nil before that.
    public var time: Int64?
    /// Of the request.
    public let id: String
    /// The user that gave the command.
    public let who: String
    /// The person or reason that the user asked for. `for` on the wire.
    public let behalf: String?
    /// The command's name. One of a newer release is listed as well.
    public let command: String
    public let room: String?
    /// The author or thing in the room that it is about.
    public let target: String?
    /// Nil while it is not known.
    public var outcome: Outcome?
    /// What was done, or why not.
    public var detail: String?

    /// A command that is to be carried out.
    public init(_ request: CommandRequest, from who: OperatorName) {
        self.init(
            id: request.id, who: who.text, behalf: request.behalf, command: request.command.name,
            room: request.command.room?.text, target: request.command.target)
    }

    /// An entry as it is listed.
    public init(
        time: Int64? = nil, id: String, who: String, behalf: String? = nil, command: String, room: String? = nil,
        target: String? = nil, outcome: Outcome? = nil, detail: String? = nil
    ) {
        (self.time, self.id, self.who, self.behalf, self.command) = (time, id, who, behalf, command)
        (self.room, self.target, self.outcome, self.detail) = (room, target, outcome, detail)
    }
}

extension AuditEntry {
    /// Writes a record of the log, or a line of a listing. What is nil is left out.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("v", integer: 1)
            body.append("at", integer: time)
            body.append("id", string: id)
            body.append("who", string: who)
            body.append("for", string: behalf)
            body.append("command", string: command)
            body.append("room", string: room)
            body.append("target", string: target)
            body.append("outcome", string: outcome?.rawValue)
            body.append("detail", string: detail)
        }
    }

    fileprivate static let keys = ["v", "at", "id", "who", "for", "command", "room", "target", "outcome", "detail"]

    /// Reads a record.
    /// - Throws: the first fault; another version than 1 is `out-of-range` at `v`.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        try self.init(JSONObject(bytes, keeping: Self.keys))
    }

    fileprivate init(_ body: JSONObject) throws(Rejection) {
        _ = try body.requiredInteger("v", in: 1...1)
        self.init(
            time: try body.integer("at", in: 0...Int64.maxSafeInteger), id: try body.requiredString("id", limit: 64),
            who: try body.requiredString("who", limit: 64), behalf: try body.string("for", limit: 1024),
            command: try body.requiredString("command", limit: 64), room: try body.string("room", limit: 64),
            target: try body.string("target", limit: 1024),
            outcome: try body.value("outcome", "done or failed") { Outcome(rawValue: $0) },
            detail: try body.string("detail", limit: 4096))
    }
}

/// A request on `<root>.audit` for a page of the audit log.
public struct AuditRequest: Sendable, Hashable {
    /// The room whose entries are asked for; nil for all.
    public var room: RoomID?
    /// The time from which on, in milliseconds since 1970.
    public var since: Int64?
    /// ``AuditPage/next`` of the page before.
    public var from: UInt64?

    public init(room: RoomID? = nil, since: Int64? = nil, from: UInt64? = nil) {
        (self.room, self.since, self.from) = (room, since, from)
    }

    /// The subject of requests.
    public static func subject(root: String) -> String { "\(root).audit" }
}

extension AuditRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("room", string: room?.text)
            body.append("since", integer: since)
            body.append("from", integer: from)
        }
    }

    /// Reads a request; an empty payload asks for everything.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        self.init()
        guard let body = try RequestBody.decoded(bytes, keeping: ["room", "since", "from"]) else { return }
        room = try body.value("room", "the name of a room") { RoomID($0) }
        since = try body.integer("since", in: 0...Int64.maxSafeInteger)
        from = try body.index("from")
    }
}

/// A part of the audit log, oldest record first; it may be long, and come in parts.
public struct AuditPage: Sendable, Hashable {
    public var entries: [AuditEntry]
    /// What ``AuditRequest/from`` asks for the next page with; nil at the end of the log.
    public var next: UInt64?

    public init(_ entries: [AuditEntry], next: UInt64?) { (self.entries, self.next) = (entries, next) }
}

extension AuditPage {
    /// Bytes of a page at most.
    private static let limit = 4 << 20

    /// Writes the page.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("entries", list: entries) { $0 += $1.encoded() }
            body.append("next", integer: next)
        }
    }

    /// Reads a page.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["entries", "next"], limit: Self.limit)
        let entries = try body.objects("entries", keeping: AuditEntry.keys) { body throws(Rejection) in
            try AuditEntry(body)
        }
        self.init(try entries.required("entries"), next: try body.index("next"))
    }
}
