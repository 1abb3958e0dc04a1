import ArgumentParser
import Foundation
import LecternGateway
import StrokeWire

/// `lectern token`: makes a token for the HTTP side.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for the HTTP side.",
        discussion: """
            The command makes a token for a daemon with auth.mode token. The key is the daemon's secret (auth.secret_file), or the private key of \
            its auth.public_key_file. A client sends the token as `Authorization: Bearer`, or opens a page as \
            /rooms/ROOM#token=TOKEN; a clock opens /rooms/ROOM/clock.

            A student reads one cohort; a teacher reads and writes a room as one author; a clock sets one cohort's \
            clock; an operator does everything.

            Each token has a `jti`, a name of its own. `lectern revoke` takes it, or the token itself, and ends the token \
            before its time.

            EXAMPLES
              (umask 077; head -c 32 /dev/urandom | base64 > secret)
              lectern token --secret-file secret --room physics --role student --cohort hls --expires 4h
              lectern token --secret-file secret --room physics --role student --name "Li Lei" --expires 4h
              lectern token --secret-file secret --room physics --role teacher --author anna --expires 8h
              lectern token --secret-file secret --room physics --role clock --cohort webrtc --expires 30d
              lectern token --secret-file secret --role operator --expires 30d
            """)

    @Option(
        help: ArgumentHelp(
            "File with the secret of HS256 tokens, 32 bytes or more. This, or --private-key-file, is required.",
            valueName: "file"))
    var secretFile: String?

    @Option(help: ArgumentHelp("PEM file with the private key of EdDSA or ES256 tokens.", valueName: "file"))
    var privateKeyFile: String?

    @Option(help: "Room that the token is for; repeat for more. Default: all rooms.", transform: roomID)
    var room: [RoomID] = []

    @Option(help: "Role of the bearer: student, teacher, clock or operator.", transform: tokenRole)
    var role: TokenRole

    @Option(
        help: "Cohort of a student or a clock: 1 to 64 characters of a-z, 0-9, _ and -. Default: main.",
        transform: cohortName)
    var cohort = CohortName.main

    @Option(
        help: "Author that a teacher writes as, required for that role: 1 to 64 characters of a-z, 0-9, _ and -.",
        transform: authorID)
    var author: AuthorID?

    @Option(help: "Name of the student that teachers see: 1 to 64 characters. Default: none.")
    var name: String?

    @Option(help: ArgumentHelp("Time for which the token is valid: 30m, 4h, 30d.", valueName: "time"))
    var expires: String

    @Flag(help: "Print the token's jti to standard error, to revoke it by later.")
    var showJti = false

    func validate() throws {
        guard (secretFile == nil) != (privateKeyFile == nil) else {
            throw ValidationError("Give either --secret-file or --private-key-file.")
        }
        guard role != .teacher || author != nil else { throw ValidationError("A teacher's token names its --author.") }
        if let name {
            guard role == .student else { throw ValidationError("--name is a student's; a teacher has an --author.") }
            guard 1...64 ~= name.count else { throw ValidationError("--name has 1 to 64 characters.") }
        }
        guard Self.seconds(expires) != nil else {
            throw ValidationError("--expires is a number with s, m, h or d, such as 4h.")
        }
    }

    func run() async throws {
        let key = try await endingCommandAfter { () async throws -> TokenKey in
            guard let secretFile else { return try await .privateKey(file: privateKeyFile ?? "") }
            return try await .secret(file: secretFile)
        }
        var claims = TokenClaims(
            rooms: room.isEmpty ? .all : .some(room), role: role, cohort: cohort, author: author,
            expires: Date() + (Self.seconds(expires) ?? 0), id: Self.newID(), issued: Date())
        claims.subject = name ?? claims.subject
        if showJti { StandardError.write(claims.id ?? "") }
        StandardOutput.write(try await key.sign(claims))
    }

    /// 128 random bits.
    private static func newID() -> String {
        let words = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)]
        return words.map { String($0, radix: 36) }.joined()
    }

    private static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), 1...1_000_000 ~= count
        else { return nil }
        return Double(count) * unit
    }
}

private func tokenRole(_ text: String) throws -> TokenRole {
    guard let role = TokenRole(rawValue: text) else {
        throw ValidationError("\(text) is none of student, teacher, clock and operator.")
    }
    return role
}
