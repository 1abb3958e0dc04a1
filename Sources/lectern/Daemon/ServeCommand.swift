import ArgumentParser
import Foundation
import LecternConfiguration

/// `lectern serve`: runs the daemon.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the daemon until SIGTERM or SIGINT.",
        discussion: """
            Settings come from arguments, the environment (LECTERN_NATS_URL is nats.url), a YAML file and defaults, \
            in this order of precedence. config/lectern.yaml lists every setting with its default, unit and meaning; \
            --settings prints the same list.

            EXAMPLES
              lectern serve --nats embedded
              lectern serve --nats nats://10.0.0.5:4222 --config /etc/lectern.yaml
              lectern serve --http 0.0.0.0:8080 --set auth.mode=token --set auth.secret_file=/etc/lectern.secret
              lectern serve --roles gateway --nats nats://10.0.0.5:4222
              lectern serve --set cohorts.default.max_hold=60s --set history.scope=author

            Exit codes: 0 after a signal, 1 when a part of the daemon fails, 64 for arguments that cannot be parsed \
            (usage), 78 for faulty settings, also those given with --set.
            """)

    @Option(help: ArgumentHelp("NATS servers, or \"embedded\" to start one on this machine.", valueName: "url"))
    var nats: String?

    @Option(help: ArgumentHelp("Where the HTTP side listens, or \"off\".", valueName: "host:port"))
    var http: String?

    @Option(help: ArgumentHelp("Where the logs of the rooms are kept: jetstream, or none.", valueName: "mode"))
    var journal: String?

    @Option(help: ArgumentHelp("What the daemon does: core, gateway, or both.", valueName: "role,…"))
    var roles: String?

    @Option(help: ArgumentHelp("A YAML file of settings.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Any setting by its dotted key; repeat for more.", valueName: "key=value"))
    var set: [String] = []

    @Flag(help: "Print every setting with its default, unit and meaning, and end.")
    var settings = false

    func validate() throws {
        _ = try arguments()
    }

    func run() async throws {
        if settings {
            print(DaemonConfiguration.reference)
            return
        }
        let arguments = try arguments()
        let configuration: DaemonConfiguration
        do throws(ConfigurationError) {
            configuration = try DaemonConfiguration.load(
                file: config, environment: ProcessInfo.processInfo.environment, arguments: arguments)
        } catch {
            StandardError.write(error.description)
            throw ExitCode(ConfigurationError.exitCode)
        }
        let daemon = Daemon(configuration)
        do {
            try await daemon.run()
        } catch {
            StandardError.write("lectern stops: \(Daemon.explanation(of: error))")
            throw ExitCode.failure
        }
    }

    private func arguments() throws -> [String: String] {
        var arguments: [String: String] = [:]
        arguments["nats.url"] = nats
        arguments["http.listen"] = http
        arguments["journal.mode"] = journal
        arguments["node.roles"] = roles
        for pair in set {
            guard let equals = pair.firstIndex(of: "=") else {
                throw ValidationError("--set takes key=value, not \"\(pair)\".")
            }
            arguments[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        return arguments
    }
}
