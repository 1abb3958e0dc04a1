import ArgumentParser
import Foundation
import LecternConfiguration
import LecternGateway
import NATSClient
import VectorGraphics

/// `lectern check`: says what is wrong with the settings, and what is in force.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the settings of a daemon, and print what is in force.",
        discussion: """
            The command reads settings exactly as `lectern serve` does with the same arguments, environment and file, and reads the \
            files that they name: keys of tokens, certificates, credentials. It connects to nothing and changes nothing.

            A note on standard error names writing that no font of the machine has.

            It prints the settings that are not the defaults, each with its value and where it comes from; with --all every \
            one. Passwords are shown as ***. Faults go to standard error, one a line, each with its place.

            EXAMPLES
              lectern check --config /etc/lectern/lectern.yaml
              lectern check --config /etc/lectern/lectern.yaml --all
              lectern check --config lectern.yaml --set limits.rooms=500 --json

            Exit codes: 0 when a daemon may start with these settings, 64 for arguments that cannot be parsed (usage), \
            78 for faults.
            """)

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print every setting, also those with their default.")
    var all = false

    @Flag(help: "Print one JSON object a line: key, value, origin.")
    var json = false

    func run() async throws {
        let loaded = try settings.load()
        let shown = all ? loaded.values : loaded.changed
        for value in shown { StandardOutput.write(json ? value.json : value.described(among: shown)) }
        if shown.isEmpty, !json { StandardOutput.write("All settings have their defaults; --all prints them.") }
        let faults = await loaded.configuration.fileFaults()
        for fault in faults { StandardError.write(fault) }
        if let fonts = loaded.configuration.missingFonts { StandardError.write("note: \(fonts.what) (\(fonts.hint))") }
        guard faults.isEmpty else { throw ExitCode(ConfigurationError.exitCode) }
    }
}

extension LoadedConfiguration.Value {
    /// `limits.rooms = 500    lectern.yaml:12`, with the origins below each other.
    fileprivate func described(among values: [Self]) -> String {
        // A long value does not move the others.
        let width = values.map(\.line.count).filter { $0 <= 48 }.max() ?? 0
        let padding = String(repeating: " ", count: max(0, width - line.count))
        return "\(line)\(padding)    \(origin ?? "default")"
    }

    fileprivate var json: String {
        struct Line: Encodable {
            let key, value: String
            let origin: String?
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(Line(key: key, value: text, origin: origin)) else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension DaemonConfiguration {
    /// What pictures and documents of this daemon cannot write, and what to do about it; nil for nothing.
    var missingFonts: (what: String, hint: String)? {
        guard node.roles.contains(.core), board.features.contains(.text) else { return nil }
        let missing = TextFonts.missing()
        guard !missing.isEmpty else { return nil }
        return (
            "no font of this machine has \(missing.map(\.writing).joined(separator: "; ")): "
                + "PNG and PDF of boards have small boxes there",
            "install \(missing.map(\.package).joined(separator: " "))"
        )
    }

    /// What is wrong with the files that settings name: what would end the daemon at its start.
    func fileFaults() async -> [String] {
        var faults: [String] = []
        let url =
            switch nats.url {
            case .servers(let url): url
            case .embedded: "nats://127.0.0.1:4222"
            }
        if node.roles.contains(.core) {
            do {
                try serviceConnection(to: url).check()
            } catch {
                faults.append("nats: \(error)")
            }
        }
        do {
            if try await gatewayConfiguration != nil { try gatewayConnection(to: url).check() }
        } catch {
            let place =
                switch error {
                case is TokenKey.Unusable: "auth"
                case is LanguageError: "http.languages"
                default: "nats"
                }
            let text = "\(place): \(error)"
            if !faults.contains(text) { faults.append(text) }
        }
        return faults
    }
}
