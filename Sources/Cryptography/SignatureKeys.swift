internal import COpenSSL

/// The signatures of JSON Web Signature with two keys.
public enum SignatureAlgorithm: String, Sendable {
    /// Ed25519 (RFC 8032): 64 bytes.
    case ed25519 = "EdDSA"
    /// ECDSA on P-256 with SHA-256: r and s, 32 bytes each, the highest first (RFC 7518, 3.4).
    case es256 = "ES256"
}

/// Why a text holds no key, as the end of a sentence.
public enum KeyFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not exactly one block of PEM.
    case notPEM
    /// Its block has another label than those of the key.
    case label(String)
    case encrypted
    case malformed
    /// It is a key of something else.
    case algorithm

    public var description: String {
        switch self {
        case .notPEM: "it is not one block of PEM"
        case .label(let label): "its label is \"\(label)\""
        case .encrypted: "the key is encrypted"
        case .malformed: "it contains no valid key"
        case .algorithm: "its key is neither for Ed25519 nor on the curve P-256"
        }
    }
}

/// Checks signatures. Any thread, several at a time.
public struct PublicKey: Sendable {
    public let algorithm: SignatureAlgorithm
    fileprivate let handle: KeyHandle

    fileprivate init(_ algorithm: SignatureAlgorithm, _ handle: KeyHandle) {
        self.algorithm = algorithm
        self.handle = handle
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280) in PEM, `PUBLIC KEY`.
    public init(pem: String) throws(KeyFault) {
        let block = try PEMBlock(pem, labels: ["PUBLIC KEY"])
        handle = try KeyHandle(block) { d2i_PUBKEY(nil, $0, $1) }
        algorithm = try handle.checkedAlgorithm { EVP_PKEY_public_check($0) }
    }

    /// Whether a signature is one of this key for a message.
    ///
    /// Of the two values of s that ECDSA allows, both count: RFC 7518 demands none, and signers give either.
    public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        return discardingErrors {
            guard let encoded = algorithm == .es256 ? Self.der(of: signature) : signature else { return false }
            return handle.withContext { context in
                EVP_DigestVerifyInit(context, nil, algorithm.digest, nil, handle.pointer) == 1
                    && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
            }
        }
    }

    /// r and s as libcrypto takes them: a sequence of two integers in DER.
    private static func der(of signature: [UInt8]) -> [UInt8]? {
        let pair = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(pair) }
        let (r, s) = signature.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, nil))
        }
        guard ECDSA_SIG_set0(pair, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        let length = i2d_ECDSA_SIG(pair, nil)
        guard length > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var end = buffer.baseAddress
            count = Int(i2d_ECDSA_SIG(pair, &end))
        }
    }
}

/// Makes signatures. Any thread, several at a time.
public struct PrivateKey: Sendable {
    /// The library could not make a signature with this key.
    public struct SigningFailed: Error, Sendable {}

    public let publicKey: PublicKey

    public var algorithm: SignatureAlgorithm { publicKey.algorithm }

    /// Reads a key in PEM that is not encrypted: PKCS #8 (RFC 5208), `PRIVATE KEY`, or SEC 1 (RFC 5915), `EC PRIVATE KEY`.
    public init(pem: String) throws(KeyFault) {
        let block = try PEMBlock(pem, labels: ["PRIVATE KEY", "EC PRIVATE KEY"])
        let handle = try KeyHandle(block) { place, length in
            if block.label == "EC PRIVATE KEY" { return d2i_PrivateKey(EVP_PKEY_EC, nil, place, length) }
            guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, place, length) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            return EVP_PKCS82PKEY(info)
        }
        publicKey = PublicKey(try handle.checkedAlgorithm { EVP_PKEY_check($0) }, handle)
    }

    /// Signs a message: 64 bytes.
    public func sign(_ message: [UInt8]) throws(SigningFailed) -> [UInt8] {
        let handle = publicKey.handle
        let algorithm = algorithm
        let signature: [UInt8]? = discardingErrors {
            // 72 bytes are the longest sequence of two such integers in DER.
            var encoded = [UInt8](repeating: 0, count: 72)
            var length = encoded.count
            let isSigned = handle.withContext { context in
                EVP_DigestSignInit(context, nil, algorithm.digest, nil, handle.pointer) == 1
                    && EVP_DigestSign(context, &encoded, &length, message, message.count) == 1
            }
            guard isSigned else { return nil }
            encoded.removeSubrange(length...)
            return algorithm == .es256 ? Self.raw(encoded) : encoded
        }
        guard let signature, signature.count == 64 else { throw SigningFailed() }
        return signature
    }

    /// r and s of a sequence of two integers in DER.
    private static func raw(_ der: [UInt8]) -> [UInt8]? {
        der.withUnsafeBufferPointer { bytes in
            var place = bytes.baseAddress
            guard let pair = d2i_ECDSA_SIG(nil, &place, bytes.count) else { return nil }
            defer { ECDSA_SIG_free(pair) }
            return [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
                guard let start = buffer.baseAddress,
                    BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, 32) == 32,
                    BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + 32, 32) == 32
                else { return }
                count = 64
            }
        }
    }
}

extension SignatureAlgorithm {
    /// Ed25519 hashes by itself.
    fileprivate var digest: OpaquePointer? {
        switch self {
        case .ed25519: nil
        case .es256: EVP_sha256()
        }
    }
}

/// A key of libcrypto's, which any number of threads may use at a time once it is made.
private final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Reads a key, which has to be all that is in the block.
    /// - Parameter read: is given the place to read at, which it moves behind the key, and the bytes that are there.
    init(
        _ block: PEMBlock, _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) throws(KeyFault) {
        let key: OpaquePointer? = discardingErrors {
            block.der.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return nil }
                var place: UnsafePointer<UInt8>? = start
                guard let key = read(&place, bytes.count) else { return nil }
                guard place == start + bytes.count else {
                    EVP_PKEY_free(key)
                    return nil
                }
                return key
            }
        }
        guard let key else { throw .malformed }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The algorithm of the key, which is checked: its point lies on the curve, and a private and a public part belong together.
    func checkedAlgorithm(_ check: (OpaquePointer?) -> CInt) throws(KeyFault) -> SignatureAlgorithm {
        if EVP_PKEY_is_a(pointer, "ED25519") == 1 { return .ed25519 }
        guard EVP_PKEY_is_a(pointer, "EC") == 1, groupName == "prime256v1", isNamedGroup else { throw .algorithm }
        let isSound = discardingErrors {
            let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
            defer { EVP_PKEY_CTX_free(context) }
            return check(context) == 1
        }
        guard isSound else { throw .malformed }
        return .es256
    }

    private var groupName: String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        let isKnown = discardingErrors { EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 }
        return isKnown ? String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Whether the key names its curve, and does not describe it by parameters of its own.
    private var isNamedGroup: Bool {
        var isExplicit: CInt = 0
        return discardingErrors {
            EVP_PKEY_get_int_param(pointer, "decoded-from-explicit", &isExplicit) == 1 && isExplicit == 0
        }
    }

    func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return body(context)
    }
}

/// The one block of a PEM file (RFC 7468).
private struct PEMBlock {
    let label: String
    let der: [UInt8]

    /// - Parameter labels: those that it may have.
    init(_ text: String, labels: [String]) throws(KeyFault) {
        // The first block is searched for, and what follows it is not looked at: both are judged here.
        var bytes = Array(text.utf8)
        while let last = bytes.last, last <= UInt8(ascii: " ") { bytes.removeLast() }
        guard bytes.starts(with: "-----BEGIN ".utf8) else { throw .notPEM }
        // A last line has to end.
        bytes.append(UInt8(ascii: "\n"))
        guard let block = discardingErrors({ Self.read(bytes) }) else { throw .notPEM }
        guard !block.isEncrypted, block.label != "ENCRYPTED PRIVATE KEY" else { throw .encrypted }
        guard labels.contains(block.label) else { throw .label(block.label) }
        (label, der) = (block.label, block.der)
    }

    private static func read(_ text: [UInt8]) -> (label: String, isEncrypted: Bool, der: [UInt8])? {
        text.withUnsafeBytes { text in
            guard let input = BIO_new_mem_buf(text.baseAddress, CInt(clamping: text.count)) else { return nil }
            defer { BIO_free(input) }
            var label: UnsafeMutablePointer<CChar>?
            var header: UnsafeMutablePointer<CChar>?
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            guard PEM_read_bio(input, &label, &header, &bytes, &count) == 1, let label, let header, let bytes else {
                return nil
            }
            defer {
                CRYPTO_free(label, nil, 0)
                CRYPTO_free(header, nil, 0)
                CRYPTO_clear_free(bytes, count, nil, 0)
            }
            var next: UInt8 = 0
            guard BIO_read(input, &next, 1) <= 0 else { return nil }
            return (
                String(cString: label), header.pointee != 0, Array(UnsafeBufferPointer(start: bytes, count: count))
            )
        }
    }
}

/// What a thread leaves in libcrypto's queue of errors would be taken for an error of its next user, such as a connection by TLS.
private func discardingErrors<Result>(_ body: () -> Result) -> Result {
    defer { ERR_clear_error() }
    return body()
}
