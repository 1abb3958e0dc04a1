import ArgumentParser
import Foundation
import LecternConfiguration

/// The options that give settings, of `serve` and `check`.
struct SettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "NATS servers, with commas between them, or \"embedded\" to start one on this machine: nats.url. Default: nats://127.0.0.1:4222.",
            valueName: "url"))
    var nats: String?

    @Option(
        help: ArgumentHelp(
            "Address that the HTTP side listens on, or \"off\": http.listen. Default: 127.0.0.1:8080.",
            valueName: "host:port"))
    var http: String?

    @Option(
        help: ArgumentHelp(
            "Place of the rooms' logs, jetstream or none: journal.mode. Default: jetstream.", valueName: "mode"))
    var journal: String?

    @Option(
        help: ArgumentHelp(
            "Roles of the daemon, core, gateway, or both: node.roles. Default: core,gateway.", valueName: "role,…"))
    var roles: String?

    @Option(help: ArgumentHelp("YAML file of settings. Default: none.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "A setting by its dotted key, such as limits.rooms=500; repeat for more. `lectern serve --settings` lists all.",
            valueName: "key=value"))
    var set: [String] = []

    func validate() throws {
        _ = try arguments()
    }

    /// Where the settings are read.
    /// - Parameter sockets: whose addresses count before all else.
    func source(_ sockets: PassedSockets? = nil) throws -> SettingsSource {
        SettingsSource(
            file: config, environment: ProcessInfo.processInfo.environment,
            arguments: try arguments().merging(sockets?.addresses ?? [:]) { _, passed in passed })
    }

    /// Reads them; faults go to standard error, and end the command with 78.
    func load(_ sockets: PassedSockets? = nil) throws -> LoadedConfiguration {
        let source = try source(sockets)
        do throws(ConfigurationError) {
            return try source.load()
        } catch {
            StandardError.write(error.description)
            throw ExitCode(ConfigurationError.exitCode)
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
