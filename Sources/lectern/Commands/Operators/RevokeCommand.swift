import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import LecternGateway
import NATSClient
import StrokeWire

/// `lectern revoke`: ends tokens before their time.
struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a token of the HTTP side before its time.",
        discussion: """
            The command takes a token, or the jti in it (`lectern token --show-jti`). Every gateway that checks tokens refuses it \
            within a second, with 401 and the code revoked, and ends its event streams. Tokens without a jti cannot be \
            ended one by one. --sub ends all tokens of an author or another subject that were issued until now.

            The daemons keep revocations in the stream ROOT_REVOKED for good, because the `exp` of an unchecked token may be \
            forged. With the key and the whole token its signature is checked, and the revocation is kept until the token \
            would have ended. There may be 50,000 in all; beyond, revoke is refused, and another key (auth.secret_file, then SIGHUP) \
            ends all tokens. With journal.mode none revocations are in the memory of the daemon, and end with it.

            The command is recorded in the audit log. The NATS user must be allowed to publish on ROOT.command.NAME.

            Exit codes: 0 when it is revoked; 1 when there is no service, no permission, when the service refuses, or when what \
            is given is no token; 2 when NATS cannot be reached.

            EXAMPLES
              lectern revoke 2x8kq1m0w3zpe1n9h6c0d5t7b
              lectern revoke "$(cat token)" --secret-file secret
              lectern revoke --sub anna --for "left the school"
            """)

    @Argument(help: ArgumentHelp("The token, or its jti. This, or --sub, is required.", valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Subject (`sub`) all of whose tokens that were issued until now are ended: an author, or another.",
            valueName: "author"))
    var sub: String?

    @Option(
        help: ArgumentHelp(
            "File with the secret of HS256 tokens, to check the signature. Default: it is not checked.",
            valueName: "file"))
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with the public key for EdDSA or ES256, to check the signature. Default: it is not checked.",
            valueName: "file")
    )
    var publicKeyFile: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (token == nil) != (sub == nil) else { throw ValidationError("Give a token, its jti, or --sub.") }
        guard secretFile == nil || publicKeyFile == nil else {
            throw ValidationError("Give either --secret-file or --public-key-file.")
        }
        guard sub == nil || secretFile == nil && publicKeyFile == nil else {
            throw ValidationError("A key checks a token; --sub needs none.")
        }
    }

    func run() async throws {
        let revocation = try await revocation()
        let reply = try await options.connection.run(as: "lectern revoke") { nats in
            try await options.commands(over: nats).give(.revoke(revocation))
        }
        let end = revocation.expires.map {
            " until \(Date(timeIntervalSince1970: Double($0)).formatted(.iso8601)), when it ends"
        }
        StandardOutput.write("revoked \(revocation.name)\(reply.detail.map { ": \($0)" } ?? end ?? " for good")")
    }

    private func revocation() async throws -> Revocation {
        if let sub {
            let now = Int64(Date().timeIntervalSince1970)
            guard let revocation = Revocation.subject(sub, issuedThrough: now) else {
                throw ExitCode.failed("a subject has 1 to \(Revocation.nameBytes) bytes, and no control characters")
            }
            return revocation
        }
        let text = (token ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        let identity = TokenIdentity(of: text)
        if identity != nil, identity?.id == nil {
            throw ExitCode.failed("the token has no jti: it cannot be revoked alone, but with --sub or by another key")
        }
        // A part of a token would be taken for a name that no token has.
        if identity == nil, text.hasPrefix("eyJ") || text.contains(where: { $0 == "." || $0.isWhitespace }) {
            throw ExitCode.failed("this is neither a whole token nor a jti")
        }
        guard let revocation = Revocation.token(identity?.id ?? text, expires: try await expiry(of: text)) else {
            throw ExitCode.failed("a jti has 1 to \(Revocation.nameBytes) bytes, and no control characters")
        }
        return revocation
    }

    /// When a token ends, in seconds since 1970, by its signed claims; nil without a key.
    private func expiry(of token: String) async throws -> Int64? {
        let key = try await endingCommandAfter { () async throws -> TokenKey? in
            if let secretFile { return try await .secret(file: secretFile) }
            guard let publicKeyFile else { return nil }
            return try await .publicKey(file: publicKeyFile)
        }
        guard let key else { return nil }
        guard let claims = await key.verify(token) else {
            throw ExitCode.failed(
                "the token is not whole, not of this key, or has ended; a jti, without a key, is revoked for good")
        }
        // `exp` may be any number: what is no whole number in JSON is never.
        let end = claims.expires.timeIntervalSince1970.rounded(.up)
        return end < 0x1p53 ? Int64(end) : nil
    }
}
