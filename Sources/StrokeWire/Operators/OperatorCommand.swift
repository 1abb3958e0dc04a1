/// A decision of a person who looks after rooms.
///
/// It goes as a request to `<root>.command.<who>`. A daemon records it in the audit log before it carries it out.
public enum OperatorCommand: Sendable, Hashable {
    /// Ends the room's incarnation: its board is empty afterwards.
    case close(RoomID)
    /// Takes nothing more of what an author sends to a room.
    case mute(AuthorID, RoomID)
    /// Takes it again.
    case unmute(AuthorID, RoomID)
    /// Ends it too, and deletes all that is stored of it.
    case erase(RoomID)
    /// Tokens of the HTTP side no longer count.
    case revoke(Revocation)
}

/// What the audit log says of a command.
extension OperatorCommand {
    /// Its name on the wire.
    public var name: String {
        switch self {
        case .close: "close"
        case .mute: "mute"
        case .unmute: "unmute"
        case .erase: "erase"
        case .revoke: "revoke"
        }
    }

    /// The room that it is about; nil for none.
    public var room: RoomID? {
        switch self {
        case .close(let room), .mute(_, let room), .unmute(_, let room), .erase(let room): room
        case .revoke: nil
        }
    }

    /// The author or thing in the room that it is about; nil for the whole room.
    public var target: String? {
        switch self {
        case .close, .erase: nil
        case .mute(let author, _), .unmute(let author, _): author.text
        case .revoke(let revocation): revocation.name
        }
    }
}

extension OperatorCommand {
    /// The members of a body that belong to some command.
    fileprivate static let keys = ["command", "room", "author", "jti", "sub", "iat", "exp"]

    fileprivate func encode(into body: inout [UInt8]) {
        body.append("command", string: name)
        switch self {
        case .close(let room), .erase(let room): body.append("room", string: room.text)
        case .mute(let author, let room), .unmute(let author, let room):
            body.append("room", string: room.text)
            body.append("author", string: author.text)
        case .revoke(let revocation): revocation.encode(into: &body)
        }
    }

    fileprivate init(_ body: JSONObject) throws(Rejection) {
        switch try body.requiredString("command", limit: 64) {
        case "close": self = .close(try body.room())
        case "mute": self = .mute(try body.author(), try body.room())
        case "unmute": self = .unmute(try body.author(), try body.room())
        case "erase": self = .erase(try body.room())
        case "revoke": self = .revoke(try Revocation(body))
        default: throw .outOfRange("command", "close, mute, unmute, erase or revoke")
        }
    }
}

/// The name of a user who gives commands: the last token of the subject, which the permissions of NATS bind to the user.
public struct OperatorName: SubjectToken {
    public let text: String

    public init?(_ text: some StringProtocol) {
        guard let name = RoomID(text) else { return nil }
        self.text = name.text
    }
}

/// The body of a request on `<root>.command.<who>`.
public struct CommandRequest: Sendable, Hashable {
    public var command: OperatorCommand
    /// The person or reason that the sender asks for, in words for the audit log: at most ``behalfLimit`` bytes. `for` on the wire.
    public var behalf: String?
    /// Names the request, so that one that is sent again counts once: 1 to 64 visible ASCII characters.
    public var id: String

    /// Bytes of ``behalf`` at most.
    public static let behalfLimit = 256

    public init(_ command: OperatorCommand, for behalf: String? = nil, id: String) {
        (self.command, self.behalf, self.id) = (command, behalf, id)
    }

    /// The subject of a user's commands.
    public static func subject(root: String, from who: OperatorName) -> String { "\(root).command.\(who)" }

    /// The subject of all users' commands.
    public static func subjects(root: String) -> String { "\(root).command.*" }

    /// The daemons on those subjects share the commands.
    public static let queue = "commands"
}

extension CommandRequest {
    /// Writes the request.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            command.encode(into: &body)
            body.append("for", string: behalf)
            body.append("id", string: id)
        }
    }

    /// Reads a request.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        guard let body = try RequestBody.decoded(bytes, keeping: OperatorCommand.keys + ["for", "id"]) else {
            throw .missing("command")
        }
        command = try OperatorCommand(body)
        behalf = try body.string("for", limit: Self.behalfLimit)
        if let behalf, !behalf.isPrintable { throw .outOfRange("for", "text without control characters") }
        id = try body.required("id", "1 to 64 visible ASCII characters") { HeaderName.validSession($0) }
    }
}

extension String {
    /// Whether a terminal shows it as it is: no control characters, no line breaks, nothing that turns the direction of
    /// what follows.
    var isPrintable: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: !(0x202a...0x202e ~= scalar.value || 0x2066...0x2069 ~= scalar.value)
            }
        }
    }
}

/// The last reply to a command: it is done. A command that is not is answered by a ``RequestError``.
///
/// Before it, a command that takes long may send any number of ``CommandProgress``.
public struct CommandReply: Sendable, Hashable {
    /// The decision's place in the log of the room's partition; nil without a journal, and for what is no decision.
    public var sequence: UInt64?
    /// What was done, in a sentence for a person; nil where the command's name says it all.
    public var detail: String?

    public init(sequence: UInt64? = nil, detail: String? = nil) {
        (self.sequence, self.detail) = (sequence, detail)
    }
}

extension CommandReply {
    /// Writes the reply.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("done", bool: true)
            body.append("sequence", integer: sequence)
            body.append("detail", string: detail)
        }
    }

    /// Reads a reply.
    /// - Throws: the first fault, also where it does not say that the command is done.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["done", "sequence", "detail"])
        guard try body.bool("done") == true else { throw .missing("done") }
        self.init(sequence: try body.index("sequence"), detail: try body.string("detail", limit: 4096))
    }
}

/// A sign of life of a command that takes long: a message to the reply subject with the header `Ink-Progress: 1`. The next
/// one, or the last reply, follows within ``interval``.
public struct CommandProgress: Sendable, Hashable {
    /// What is being done, for a person.
    public var detail: String
    /// How far it has come, of how much; nil where that is not known.
    public var made: Int?
    public var total: Int?

    /// The longest time between two of them.
    public static let interval = Duration.seconds(5)
    /// How long a client waits for the next one, or for the last reply. A command that waits for its turn, and whose client
    /// has heard nothing for so long, is not carried out any more.
    public static let patience = Duration.seconds(15)

    public init(_ detail: String, made: Int? = nil, of total: Int? = nil) {
        (self.detail, self.made, self.total) = (detail, made, total)
    }
}

extension CommandProgress {
    /// Writes the body.
    public func encoded() -> [UInt8] {
        JSONObject.encoded { body in
            body.append("detail", string: detail)
            body.append("made", integer: made)
            body.append("of", integer: total)
        }
    }

    /// Reads a body.
    /// - Throws: the first fault.
    public init(decoding bytes: [UInt8]) throws(Rejection) {
        let body = try JSONObject(bytes, keeping: ["detail", "made", "of"])
        self.init(
            try body.requiredString("detail", limit: 4096), made: try body.count("made"), of: try body.count("of"))
    }
}
