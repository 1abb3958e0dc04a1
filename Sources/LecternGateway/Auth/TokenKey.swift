internal import Cryptography
internal import Foundation
internal import StrokeWire

/// The key of all tokens, and with it their one algorithm: what a token says of its own does not count.
public struct TokenKey: Sendable {
    /// A file that is no key.
    public struct Unusable: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    private enum Key: Sendable {
        case secret([UInt8])
        case checking(PublicKey)
        case signing(PrivateKey)
    }

    /// Bytes of a secret at least.
    public static let secretBytes = 32

    private let key: Key
    /// The bytes of its file.
    private let material: Data

    private init(_ key: Key, _ material: Data) {
        self.key = key
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
        return TokenKey(.secret(Array(secret)), secret)
    }

    /// EdDSA or ES256, by a PEM file with a public key, which checks tokens.
    public static func publicKey(file: String) async throws -> TokenKey {
        try pem(file, "public") { text throws(KeyFault) in .checking(try PublicKey(pem: text)) }
    }

    /// EdDSA or ES256, by a PEM file with a private key, which makes and checks tokens.
    public static func privateKey(file: String) async throws -> TokenKey {
        try pem(file, "private") { text throws(KeyFault) in .signing(try PrivateKey(pem: text)) }
    }

    private static func pem(
        _ file: String, _ kind: String, _ make: (String) throws(KeyFault) -> Key
    ) throws -> TokenKey {
        let data = try read(file)
        do throws(KeyFault) {
            return TokenKey(try make(String(decoding: data, as: UTF8.self)), data)
        } catch {
            throw Unusable(
                description: "\(file) is no PEM file with a \(kind) key for EdDSA or ES256: \(error)")
        }
    }

    private static func read(_ file: String) throws -> Data {
        // `FileManager.contents(atPath:)` refuses pipes.
        guard let handle = FileHandle(forReadingAtPath: file), let data = try? handle.readToEnd() ?? Data() else {
            let reason = access(file, R_OK) == 0 ? "" : ": \(String(cString: strerror(errno)))"
            throw Unusable(description: "\(file) cannot be read\(reason)")
        }
        return data
    }
}

extension TokenKey {
    /// Makes a token.
    public func sign(_ claims: TokenClaims) async throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let head = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8))
        let text = "\(head).\(Base64URL.encode(Array(try encoder.encode(TokenPayload(claims)))))"
        return "\(text).\(Base64URL.encode(try signature(of: Array(text.utf8))))"
    }

    /// Checks a token's signature, its time, and that it names the key's algorithm.
    /// - Returns: nil for a token that does not count.
    public func verify(_ token: String) async -> TokenClaims? {
        guard let token = SignedToken(token), let head = token.decode(token.head, as: SignedToken.Head.self),
            head.alg == algorithm, isValid(token.signature, of: token.signedText),
            let claims = token.decode(token.claims, as: TokenPayload.self)?.claims, claims.isValid(at: Date())
        else { return nil }
        return claims
    }

    /// The name of its algorithm in the heads of tokens.
    private var algorithm: String {
        switch key {
        case .secret: "HS256"
        case .checking(let key): key.algorithm.rawValue
        case .signing(let key): key.algorithm.rawValue
        }
    }

    private func signature(of text: [UInt8]) throws -> [UInt8] {
        switch key {
        case .secret(let secret): HMACSHA256.code(of: text, key: secret)
        case .checking: throw Unusable(description: "a public key makes no tokens")
        case .signing(let key): try key.sign(text)
        }
    }

    private func isValid(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        switch key {
        case .secret(let secret): HMACSHA256.isValid(signature, of: text, key: secret)
        case .checking(let key): key.isValid(signature, of: text)
        case .signing(let key): key.publicKey.isValid(signature, of: text)
        }
    }
}

/// The unverified id of a token, by which it can be revoked. Trust nothing else in an unverified token.
public struct TokenIdentity: Sendable, Equatable {
    /// `jti`
    public let id: String?

    /// - Returns: nil for a text that is no JWT.
    public init?(of token: String) {
        struct Body: Decodable {
            let jti: String?
        }
        guard let token = SignedToken(token), let body = token.decode(token.claims, as: Body.self) else { return nil }
        id = body.jti
    }
}

/// A JWT in the compact form (RFC 7515, 7.1), by its form alone: each text has one way to be written, so that a token cannot mean
/// two things or be told from itself.
private struct SignedToken {
    struct Head: Decodable {
        let alg: String
        /// Which key it is of is not the token's to say; it has to be a name.
        let kid: String?
    }

    /// JSON.
    let head: [UInt8]
    let claims: [UInt8]
    let signature: [UInt8]
    /// What the signature is of.
    let signedText: [UInt8]

    /// Bytes of a token at most.
    private static let limit = 4096

    init?(_ token: String) {
        guard token.utf8.count <= Self.limit else { return nil }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return nil }
        // Extensions that must be understood (RFC 7515, 4.1.11) are understood by nobody here.
        guard let names = JSONField.names(in: head), !names.contains("crit"), JSONField.names(in: claims) != nil else {
            return nil
        }
        self.head = head
        self.claims = claims
        self.signature = signature
        signedText = Array(token.utf8[..<parts[1].endIndex])
    }

    func decode<Part: Decodable>(_ json: [UInt8], as type: Part.Type) -> Part? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try? decoder.decode(type, from: Data(json))
    }
}

/// Base 64 in the alphabet for URLs, without padding (RFC 7515, 2).
private enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: nil for a text that ``encode(_:)`` does not make.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let text = String(decoding: text, as: UTF8.self)
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
        guard let bytes = data.map({ [UInt8]($0) }), encode(bytes) == text else { return nil }
        return bytes
    }
}
