import Cryptography
import Foundation

@testable import LecternGateway

/// Keys of tokens for tests, and what tokens are made of.
extension TokenKey {
    static let testSecret = "a secret of 32 bytes or more, here it is"

    static func test(_ secret: String = testSecret) async throws -> TokenKey {
        let file = try testFile(secret)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try await TokenKey.secret(file: file)
    }

    /// A file of the test's own.
    /// - Returns: its path.
    static func testFile(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID())").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// What HS256 makes of a text (RFC 7515) with the secret of the test.
    static func testSignature(of text: String) -> String {
        base64URL(HMACSHA256.code(of: Array(text.utf8), key: Array(testSecret.utf8)))
    }

    /// Base 64 for URLs.
    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
