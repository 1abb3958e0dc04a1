import ArgumentParser
import Foundation
import Logging
import NATSClient

/// Options for a client's connection to NATS.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "NATS server, or several with commas between them: nats://host:port, or tls://host:port for TLS. Default: the environment's LECTERN_NATS_URL, else nats://127.0.0.1:4222.",
            discussion: """
                User and password may stand before the host: tls://user:password@host:port, with %2C for a comma. Or \
                set them in the environment, not encoded: LECTERN_NATS_USER, LECTERN_NATS_PASSWORD. The files below \
                may be set there too: LECTERN_NATS_CA, LECTERN_NATS_CERTIFICATE, LECTERN_NATS_KEY, \
                LECTERN_NATS_CREDENTIALS.
                """,
            valueName: "url"))
    var nats: String?

    @Option(help: ArgumentHelp("User for servers whose URL names none.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("File of NATS credentials, as `nsc` writes it.", valueName: "file"))
    var credentials: String?

    @Option(
        help: ArgumentHelp(
            "PEM file of certificate authorities to trust for the server, besides the system's.",
            valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("PEM file of the certificate to show to the server.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("PEM file of that certificate's private key.", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Prefix of the subjects for replies: _INBOX, or one that begins with _INBOX.; with permissions, one that this user may subscribe to. Default: _INBOX.NAME for a user with a password, else _INBOX.",
            valueName: "subject"))
    var inboxPrefix: String?

    @Flag(name: .shortAndLong, help: "Log what the connection does to standard error.")
    var verbose = false

    func validate() throws {
        if let inboxPrefix, inboxPrefix != "_INBOX", !inboxPrefix.hasPrefix("_INBOX.") {
            throw ValidationError("--inbox-prefix is _INBOX or begins with _INBOX.: the service answers nobody else.")
        }
    }

    /// The servers' URLs.
    var url: String {
        nats ?? Self.variable("URL") ?? NATSSettings().url
    }

    /// The servers' URLs without users and passwords, for display.
    var place: String {
        guard let urls = try? ServerURL.list(url) else { return "NATS" }
        return urls.map { ($0.isSecure ? "tls://" : "nats://") + $0.address }.joined(separator: ",")
    }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["LECTERN_NATS_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The settings of a connection.
    func settings(as name: String) -> NATSSettings {
        var settings = NATSSettings(url: url, name: name)
        settings.user = user ?? Self.variable("USER")
        settings.password = Self.variable("PASSWORD")
        settings.credentialsFile = credentials ?? Self.variable("CREDENTIALS")
        settings.tls.authorityFile = ca ?? Self.variable("CA")
        settings.tls.certificateFile = certificate ?? Self.variable("CERTIFICATE")
        settings.tls.keyFile = key ?? Self.variable("KEY")
        settings.inboxPrefix = inboxPrefix ?? settings.usualInboxPrefix
        return settings
    }

    /// A logger on standard error; standard output has the command's results.
    var logger: Logger {
        var logger = Logger(label: "lectern") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }

    /// Connects, or ends the command with status 2.
    func connect(as name: String) async throws -> NATSConnection {
        let settings = settings(as: name)
        let connection = NATSConnection(settings, logger: logger)
        do throws(NATSError) {
            // Without this check, connecting would be retried with settings that can never work.
            try settings.check()
            try await connection.connect()
        } catch {
            await connection.close()
            StandardError.write("lectern: cannot connect to \(place): \(error)")
            throw ExitCode.cannotConnect
        }
        return connection
    }
}

extension ExitCode {
    /// The command failed, or found a fault.
    static let failed = ExitCode(1)
    /// NATS cannot be reached.
    static let cannotConnect = ExitCode(2)
    /// A service has not answered yet: all is in the journal, or a list is not whole.
    static let unanswered = ExitCode(3)
}
