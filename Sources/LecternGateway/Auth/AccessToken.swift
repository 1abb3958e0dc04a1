public import Foundation
internal import JWTKit
public import StrokeWire

/// What the holder of a token may do.
public enum TokenRole: String, Sendable, Codable, CaseIterable {
    /// Events, boards and assets of one cohort.
    case student
    /// All of a room but its clocks; writes as one author.
    case teacher
    /// Samples of one cohort's video clock.
    case clock
    /// Everything.
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
    /// Which of a gateway's keys, counted since its start, the token was verified with.
    var keyNumber = 0

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

/// The key of all tokens, and with it their one algorithm: what a token says of its own does not count.
public struct TokenKey: Sendable {
    /// A file that is no key.
    public struct Unusable: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Bytes of a secret at least.
    public static let secretBytes = 32

    private let keys: JWTKeyCollection
    /// The name of its algorithm in the heads of tokens.
    private let algorithm: String
    /// The bytes of its file.
    private let material: Data

    private init(_ keys: JWTKeyCollection, _ algorithm: String, _ material: Data) {
        self.keys = keys
        self.algorithm = algorithm
        self.material = material
    }

    /// Whether it was read from a file with other bytes.
    func differs(from other: TokenKey) -> Bool { material != other.material }

    /// HS256, by a file whose bytes are the secret; a line break at its end does not count.
    public static func secret(file: String) async throws -> TokenKey {
        var secret = try read(file)
        while let last = secret.last, last == 10 || last == 13 { secret.removeLast() }
        guard secret.count >= secretBytes else {
            throw Unusable(description: "\(file) has \(secret.count) bytes; a secret has \(secretBytes) or more")
        }
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        return TokenKey(keys, "HS256", secret)
    }

    /// EdDSA or ES256, by a PEM file with a public key, which checks tokens.
    public static func publicKey(file: String) async throws -> TokenKey {
        let text = String(decoding: try read(file), as: UTF8.self)
        let keys = JWTKeyCollection()
        let algorithm: String
        if let key = try? EdDSA.PublicKey(pem: text) {
            await keys.add(eddsa: key)
            algorithm = "EdDSA"
        } else if let key = try? ES256PublicKey(pem: text) {
            await keys.add(ecdsa: key)
            algorithm = "ES256"
        } else {
            throw Unusable(description: "\(file) is no PEM file with a public key for EdDSA or ES256")
        }
        return TokenKey(keys, algorithm, Data(text.utf8))
    }

    /// EdDSA or ES256, by a PEM file with a private key, which makes and checks tokens.
    public static func privateKey(file: String) async throws -> TokenKey {
        let text = String(decoding: try read(file), as: UTF8.self)
        let keys = JWTKeyCollection()
        let algorithm: String
        if let key = try? EdDSA.PrivateKey(pem: text) {
            await keys.add(eddsa: key)
            algorithm = "EdDSA"
        } else if let key = try? ES256PrivateKey(pem: text) {
            await keys.add(ecdsa: key)
            algorithm = "ES256"
        } else {
            throw Unusable(description: "\(file) is no PEM file with a private key for EdDSA or ES256")
        }
        return TokenKey(keys, algorithm, Data(text.utf8))
    }

    /// Makes a token.
    public func sign(_ claims: TokenClaims) async throws -> String {
        try await keys.sign(Payload(claims))
    }

    /// Checks a token's signature, its time, and that it names the key's algorithm.
    /// - Returns: nil for a token that does not count.
    public func verify(_ token: String) async -> TokenClaims? {
        struct Head: Decodable {
            let alg: String
        }
        guard token.utf8.count <= 4096, TokenParts(token)?.decode(0, as: Head.self)?.alg == algorithm else {
            return nil
        }
        return try? await keys.verify(token, as: Payload.self).claims
    }

    private static func read(_ file: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: file) else {
            let reason = access(file, R_OK) == 0 ? "" : ": \(String(cString: strerror(errno)))"
            throw Unusable(description: "\(file) cannot be read\(reason)")
        }
        return data
    }
}

/// What a token says of itself, unchecked: by what it can be revoked. Nothing more of it can be relied on.
public struct TokenIdentity: Sendable, Equatable {
    /// `jti`
    public let id: String?

    /// - Returns: nil for a text that is no JWT.
    public init?(of token: String) {
        struct Body: Decodable {
            let jti: String?
        }
        guard token.utf8.count <= 4096, let body = TokenParts(token)?.decode(1, as: Body.self) else { return nil }
        id = body.jti
    }
}

/// The three parts of a JWT: head, claims, signature.
private struct TokenParts {
    private let parts: [Substring]

    init?(_ token: String) {
        parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
    }

    /// Reads a part's JSON, which stands in Base 64 in the alphabet for URLs, without padding (RFC 7515, 2).
    func decode<Part: Decodable>(_ number: Int, as type: Part.Type) -> Part? {
        var text = parts[number].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        text += Array(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: String(text)).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }
}

/// The claims as they stand in a token.
private struct Payload: JWTPayload {
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
            author: author, expires: try body.decode(ExpirationClaim.self, forKey: .exp).value,
            notBefore: try body.decodeIfPresent(NotBeforeClaim.self, forKey: .nbf)?.value,
            id: try body.decodeIfPresent(String.self, forKey: .jti),
            issued: try body.decodeIfPresent(IssuedAtClaim.self, forKey: .iat)?.value)
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
        try body.encode(ExpirationClaim(value: claims.expires), forKey: .exp)
        try body.encodeIfPresent(claims.notBefore.map { NotBeforeClaim(value: $0) }, forKey: .nbf)
        try body.encodeIfPresent(claims.id, forKey: .jti)
        try body.encodeIfPresent(claims.issued.map { IssuedAtClaim(value: $0) }, forKey: .iat)
    }

    func verify(using algorithm: some JWTAlgorithm) throws {
        guard claims.expires > Date() else { throw Expired() }
        if let notBefore = claims.notBefore, notBefore > Date() { throw Expired() }
    }

    private struct Expired: Error {}
}
