import Foundation
import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import ServiceLifecycle
import UnixSignals

/// Where the daemon's settings come from: the same file, variables and arguments each time they are read.
struct SettingsSource: Sendable {
    let file: String?
    let environment: [String: String]
    let arguments: [String: String]

    func load() throws(ConfigurationError) -> LoadedConfiguration {
        try LoadedConfiguration(file: file, environment: environment, arguments: arguments)
    }
}

/// Reads the settings again at each SIGHUP: applies those that may change while the daemon runs, and names the others. With
/// a fault nothing changes.
struct SettingsReload: Service {
    private let source: SettingsSource
    private let atStart: LoadedConfiguration
    private let log: DaemonLog
    private let logger: Logger
    private let signals: UnixSignalsSequence
    var gateway: Gateway?

    /// From here on SIGHUP does not end the process; the settings are read again once this runs.
    init(_ source: SettingsSource, _ atStart: LoadedConfiguration, _ log: DaemonLog, _ logger: Logger) async {
        self.source = source
        self.atStart = atStart
        self.log = log
        self.logger = logger
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    func run() async throws {
        var inForce = atStart
        for await _ in signals.cancelOnGracefulShutdown() { inForce = await reload(inForce) }
    }

    private func reload(_ before: LoadedConfiguration) async -> LoadedConfiguration {
        let new: LoadedConfiguration
        do throws(ConfigurationError) {
            new = try source.load()
        } catch {
            let faults: [Logger.Metadata.Value] = error.faults.map { "\($0)" }
            logger.error("settings not reloaded: nothing has changed", metadata: ["faults": .array(faults)])
            return before
        }
        // The files of keys are read again whether their names have changed or not.
        var isNewKey = false
        if let gateway {
            do {
                if let configuration = try await new.configuration.gatewayConfiguration {
                    isNewKey = gateway.update(configuration)
                }
            } catch {
                logger.error("settings not reloaded: nothing has changed", metadata: ["faults": ["\(error)"]])
                return before
            }
        }
        log.level = new.configuration.logLevel
        let changes = SettingChanges(from: before, to: new)
        // Against the start: what takes a restart stays so however often the settings are read.
        let waiting = SettingChanges(from: atStart, to: new).fixed
        let changed = changes.live.map { "\($0)" } + (isNewKey ? ["the key of tokens"] : [])
        logger.notice(
            "settings reloaded",
            metadata: [
                "changed": .array(changed.map { "\($0)" }), "needs restart": .array(waiting.map { "\($0)" }),
            ])
        return new
    }
}

extension LoadedConfiguration {
    /// What the log says at the start: the version, and the settings that are not the defaults, without passwords.
    var summary: Logger.Metadata {
        var settings: Logger.Metadata = [:]
        for value in changed { settings[value.key] = "\(value.text)" }
        return ["version": "\(Lectern.version)", "settings": .dictionary(settings)]
    }
}
