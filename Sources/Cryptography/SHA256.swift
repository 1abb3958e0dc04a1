internal import COpenSSL

/// A SHA-256 (FIPS 180-4) of bytes that come in parts. Not for several threads at a time.
public struct SHA256: ~Copyable {
    /// The 32 bytes of a hash.
    public struct Digest: Sendable, Hashable {
        public let bytes: [UInt8]

        /// 64 digits, the letters lower case.
        public var hexadecimal: String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private let context: OpaquePointer

    public init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("libcrypto has no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    public mutating func update(_ bytes: [UInt8]) {
        let isDone = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
        precondition(isDone, "libcrypto hashes no more")
    }

    public consuming func finalize() -> Digest {
        let bytes = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            precondition(EVP_DigestFinal_ex(context, buffer.baseAddress, nil) == 1, "libcrypto ends no hash")
            count = 32
        }
        return Digest(bytes: bytes)
    }

    public static func hash(_ bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }
}

/// HMAC (RFC 2104) with SHA-256.
public enum HMACSHA256 {
    /// The 32 bytes of the code of a message.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            precondition(
                HMAC(EVP_sha256(), key, CInt(clamping: key.count), message, message.count, buffer.baseAddress, nil)
                    != nil,
                "libcrypto has no HMAC")
            count = 32
        }
    }

    /// Whether a code is that of a message, in a time that does not depend on where they differ.
    public static func isValid(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        code.count == 32 && CRYPTO_memcmp(code, self.code(of: message, key: key), 32) == 0
    }
}
