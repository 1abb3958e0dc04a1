import Foundation
import TestSupport

/// A file with the key of tokens, which goes with the object.
final class TokenSecret: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())").path

    init() throws { try change("a secret of 32 bytes or more, here it is") }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The settings of a daemon that wants tokens of this key.
    var settings: [String] { ["auth.mode=token", "auth.secret_file=\(path)"] }

    func change(_ secret: String) throws { try Data(secret.utf8).write(to: URL(filePath: path)) }

    /// A token for an hour, by `lectern token`.
    func token(_ arguments: [String]) async throws -> String {
        let process = try LecternProcess(["token", "--secret-file", path, "--expires", "1h"] + arguments)
        guard await process.exitCode() == 0 else { throw Unexpected(process.log) }
        return process.log.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The headers of a request with such a token.
    func headers(_ arguments: String...) async throws -> [(String, String)] {
        [("Authorization", "Bearer \(try await token(arguments))")]
    }
}
