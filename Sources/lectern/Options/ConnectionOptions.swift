import ArgumentParser
import Foundation
import Logging
import NATSClient

/// How a command of a client reaches NATS.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "NATS server, or several with commas between them. Default: the environment's LECTERN_NATS_URL, else nats://127.0.0.1:4222.",
            valueName: "url"))
    var nats: String?

    @Option(help: ArgumentHelp("File of NATS credentials, as `nsc` writes it.", valueName: "file"))
    var credentials: String?

    @Flag(name: .shortAndLong, help: "Log what the connection does to standard error.")
    var verbose = false

    /// The server that is meant.
    var url: String {
        nats ?? ProcessInfo.processInfo.environment["LECTERN_NATS_URL"] ?? NATSSettings().url
    }

    /// A logger that leaves standard output to the command's results.
    var logger: Logger {
        var logger = Logger(label: "lectern") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }

    /// Connects, or ends the command with status 2.
    func connect(as name: String) async throws -> NATSConnection {
        var settings = NATSSettings(url: url, name: name)
        settings.credentialsFile = credentials
        settings.sendAsap = true
        let connection = NATSConnection(settings, logger: logger)
        do throws(NATSError) {
            // It would be tried again and again, as a server is that may come.
            try settings.checkCredentials()
            try await connection.connect()
        } catch {
            await connection.close()
            StandardError.write("lectern: cannot connect to \(url): \(error)")
            throw ExitCode.cannotConnect
        }
        return connection
    }
}

extension ExitCode {
    /// The command did its work, and something was not as it should be.
    static let failed = ExitCode(1)
    /// NATS cannot be reached.
    static let cannotConnect = ExitCode(2)
    /// Everything has arrived, and its outcome is not known yet.
    static let unanswered = ExitCode(3)
}
