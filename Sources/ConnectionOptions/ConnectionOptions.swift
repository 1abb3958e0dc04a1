package import ArgumentParser
import Foundation
package import Logging
package import NATSClient

/// Options for a client's connection to NATS, the same in all programs.
package struct ConnectionOptions: ParsableArguments {
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
    package var nats: String?

    @Option(help: ArgumentHelp("User for servers whose URL names none.", valueName: "name"))
    package var user: String?

    @Option(help: ArgumentHelp("File of NATS credentials, as `nsc` writes it.", valueName: "file"))
    package var credentials: String?

    @Option(
        help: ArgumentHelp(
            "PEM file of certificate authorities to trust for the server, besides the system's.",
            valueName: "file"))
    package var ca: String?

    @Option(help: ArgumentHelp("PEM file of the certificate to show to the server.", valueName: "file"))
    package var certificate: String?

    @Option(help: ArgumentHelp("PEM file of that certificate's private key.", valueName: "file"))
    package var key: String?

    @Option(
        help: ArgumentHelp(
            "Prefix of the subjects for replies: _INBOX, or one that begins with _INBOX.; with permissions, one that this user may subscribe to. Default: _INBOX.NAME for a user with a password, else _INBOX.",
            valueName: "subject"))
    package var inboxPrefix: String?

    @Flag(name: .shortAndLong, help: "Log what the command does to standard error.")
    package var verbose = false

    package init() {}

    package func validate() throws {
        if let inboxPrefix, inboxPrefix != "_INBOX", !inboxPrefix.hasPrefix("_INBOX.") {
            throw ValidationError("--inbox-prefix is _INBOX or begins with _INBOX.: the service answers nobody else.")
        }
    }

    package var url: String {
        nats ?? Self.variable("URL") ?? NATSSettings().url
    }

    /// The servers' URLs without users and passwords, for display.
    package var place: String { NATSSettings(url: url).place }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["LECTERN_NATS_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }

    package func settings(as name: String) -> NATSSettings {
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
    package var logger: Logger {
        var logger = Logger(label: "lectern") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }

    /// Connects, or ends the command with status 2.
    ///
    /// - Parameters:
    ///   - name: the program and the command, for the server's list of connections.
    ///   - logger: for the connection; ``logger`` unless it is said.
    package func connect(as name: String, logger: Logger? = nil) async throws -> NATSConnection {
        let settings = settings(as: name)
        let connection = NATSConnection(settings, logger: logger ?? self.logger)
        do throws(NATSError) {
            // Without this check, connecting would be retried with settings that can never work.
            try settings.check()
            try await connection.connect()
        } catch {
            await connection.close()
            let program = name.prefix { $0 != " " }
            let text = "\(program): cannot connect to \(place): \(error)\n" + Self.hint(for: error)
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            throw ExitCode.cannotConnect
        }
        return connection
    }

    /// What to do about an error, as a line.
    private static func hint(for error: NATSError) -> String {
        switch error {
        // They say what is wrong with an argument.
        case .unreadableFile, .invalidSettings: ""
        case _ where error.isAboutUser:
            "Name a user and its password in --nats, or set LECTERN_NATS_USER and LECTERN_NATS_PASSWORD.\n"
        default: "Start a server, as `lectern serve --nats embedded` does, or name another one with --nats.\n"
        }
    }
}

extension ExitCode {
    /// NATS cannot be reached.
    package static let cannotConnect = ExitCode(2)
}
