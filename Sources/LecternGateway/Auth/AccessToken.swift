public import Foundation
public import StrokeWire

/// What the holder of a token may do.
public enum TokenRole: String, Sendable, Codable, CaseIterable {
    /// Events, boards and assets of one cohort.
    case student
    /// All of a room but its clocks; writes as one author.
    case teacher
    /// Samples of one cohort's video clock.
    case clock
    case `operator`
}

/// The rooms that a token is for.
public enum TokenRooms: Sendable, Equatable {
    case all
    case some([RoomID])

    func contains(_ room: RoomID) -> Bool {
        switch self {
        case .all: true
        case .some(let rooms): rooms.contains(room)
        }
    }
}

/// The claims of a token (RFC 7519).
public struct TokenClaims: Sendable, Equatable {
    /// `room`: a name, a list of names, or `*`.
    public var rooms: TokenRooms
    public var role: TokenRole
    /// Of a student or a clock; `main` unless given.
    public var cohort: CohortName
    /// `sub`: of a teacher, the author.
    public var author: AuthorID?
    /// `exp`
    public var expires: Date
    /// `nbf`
    public var notBefore: Date?
    /// `jti`: by which it can be revoked; nil for a token that cannot be revoked alone.
    public var id: String?
    /// `sub` of any role, by which all tokens of a subject can be revoked.
    public var subject: String?
    /// `iat`
    public var issued: Date?
    /// What teachers see a student called: `sub`, but for a link, whose `sub` is the teacher who made it.
    var studentName: String? {
        guard role == .student, id?.hasPrefix(Revocation.Target.linkPrefix) != true, let subject else { return nil }
        return String(subject.prefix(64))
    }

    /// Which of a gateway's keys, counted since its start, the token was verified with.
    var keyNumber = 0

    /// Whether its time has come and is not over.
    func isValid(at now: Date) -> Bool { now < expires && notBefore.map { $0 <= now } ?? true }

    public init(
        rooms: TokenRooms, role: TokenRole, cohort: CohortName = .main, author: AuthorID? = nil, expires: Date,
        notBefore: Date? = nil, id: String? = nil, issued: Date? = nil
    ) {
        self.id = id
        self.issued = issued
        subject = author?.text
        self.rooms = rooms
        self.role = role
        self.cohort = cohort
        self.author = author
        self.expires = expires
        self.notBefore = notBefore
    }
}

/// The claims as they stand in a token. Times are seconds since 1970, with fractions.
struct TokenPayload: Codable {
    private enum CodingKeys: String, CodingKey {
        case room, role, cohort, sub, exp, nbf, jti, iat
    }

    let claims: TokenClaims

    init(_ claims: TokenClaims) {
        self.claims = claims
    }

    init(from decoder: any Decoder) throws {
        let body = try decoder.container(keyedBy: CodingKeys.self)
        func name<Name: SubjectToken>(_ text: String, _ key: CodingKeys) throws -> Name {
            guard let name = Name(text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: body, debugDescription: "no name")
            }
            return name
        }
        let rooms: TokenRooms
        if let list = try? body.decode([String].self, forKey: .room) {
            rooms = .some(try list.map { try name($0, .room) })
        } else {
            let text = try body.decode(String.self, forKey: .room)
            rooms = text == "*" ? .all : .some([try name(text, .room)])
        }
        let role = try body.decode(TokenRole.self, forKey: .role)
        // The subject of other tokens may be anything.
        let subject = try body.decodeIfPresent(String.self, forKey: .sub)
        let author: AuthorID? = role == .teacher ? try subject.map { try name($0, .sub) } : nil
        var claims = TokenClaims(
            rooms: rooms, role: role,
            cohort: try body.decodeIfPresent(String.self, forKey: .cohort).map { try name($0, .cohort) } ?? .main,
            author: author, expires: try body.decode(Date.self, forKey: .exp),
            notBefore: try body.decodeIfPresent(Date.self, forKey: .nbf),
            id: try body.decodeIfPresent(String.self, forKey: .jti),
            issued: try body.decodeIfPresent(Date.self, forKey: .iat))
        claims.subject = subject
        self.claims = claims
    }

    func encode(to encoder: any Encoder) throws {
        var body = encoder.container(keyedBy: CodingKeys.self)
        switch claims.rooms {
        case .all: try body.encode("*", forKey: .room)
        case .some(let rooms) where rooms.count == 1: try body.encode(rooms[0].text, forKey: .room)
        case .some(let rooms): try body.encode(rooms.map(\.text), forKey: .room)
        }
        try body.encode(claims.role, forKey: .role)
        if [.student, .clock].contains(claims.role) { try body.encode(claims.cohort.text, forKey: .cohort) }
        try body.encodeIfPresent(claims.subject ?? claims.author?.text, forKey: .sub)
        try body.encode(claims.expires, forKey: .exp)
        try body.encodeIfPresent(claims.notBefore, forKey: .nbf)
        try body.encodeIfPresent(claims.id, forKey: .jti)
        try body.encodeIfPresent(claims.issued, forKey: .iat)
    }
}
