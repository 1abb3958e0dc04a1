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
            Takes a token, or the jti in it (`lectern token --show-jti`). Every gateway that checks tokens refuses it \
            within a second, with 401 and the code revoked, and ends its event streams. Tokens without a jti cannot be \
            ended one by one. --sub ends all tokens of an author or another subject that were issued until now.

            The daemons keep revocations in the stream ROOT_REVOKED until the token would have ended. Of a jti alone and of \
            --sub the end is not known: they are kept for good. Give the token where you have it. There may be 50,000 in \
            all; beyond, revoke is refused, and another key (auth.secret_file, then SIGHUP) ends all tokens. With \
            journal.mode none revocations are in the memory of the daemon, and end with it.

            The command is recorded in the audit log. The NATS user must be allowed to publish on ROOT.command.NAME.

            Exit codes: 0 when it is revoked; 1 when there is no service, no permission, or when the service refuses; 2 when \
            NATS cannot be reached.

            EXAMPLES
              lectern revoke 2x8kq1m0w3zpe1n9h6c0d5t7b
              lectern revoke "$(cat token)"
              lectern revoke --sub anna --for "left the school"
            """)

    @Argument(help: ArgumentHelp("The token, or its jti.", valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("All tokens of this subject that were issued until now.", valueName: "author"))
    var sub: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (token == nil) != (sub == nil) else { throw ValidationError("Give a token, its jti, or --sub.") }
    }

    func run() async throws {
        let revocation = try revocation()
        let nats = try await options.connection.connect(as: "lectern revoke")
        let reply: CommandReply
        do {
            reply = try await options.commands(over: nats).give(.revoke(revocation))
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
        await nats.close()
        let end = revocation.expires.map {
            " until \(Date(timeIntervalSince1970: Double($0)).formatted(.iso8601)), when it ends"
        }
        StandardOutput.write("revoked \(revocation.name)\(end ?? " for good")")
        if let detail = reply.detail { StandardError.write("lectern: \(detail)") }
    }

    private func revocation() throws -> Revocation {
        if let sub {
            let now = Int64(Date().timeIntervalSince1970)
            guard let revocation = Revocation.subject(sub, issuedThrough: now) else {
                throw ValidationError("A subject has 1 to \(Revocation.nameBytes) bytes, and no control characters.")
            }
            return revocation
        }
        let text = (token ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        let identity = TokenIdentity(of: text)
        if identity != nil, identity?.id == nil {
            throw ValidationError("The token has no jti: it cannot be revoked alone, but with --sub or by another key.")
        }
        guard let revocation = Revocation.token(identity?.id ?? text, expires: identity?.expires) else {
            throw ValidationError("A jti has 1 to \(Revocation.nameBytes) bytes, and no control characters.")
        }
        return revocation
    }
}
