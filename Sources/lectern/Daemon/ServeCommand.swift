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
            --settings prints the same list, and `lectern check` what is in force.

            SIGHUP reads them again. What may change while the daemon runs does: logging.level, the files of keys of \
            tokens, http.allowed_origins, http.trusted_proxies, http.media_origins, http.languages and http.skew_alarm. The \
            log names the others that have changed, which take a restart; with a fault nothing changes.

            Sockets that systemd has bound are served in place of http.listen and http.admin: those named http and admin \
            (FileDescriptorName=). lectern.socket is one.

            EXAMPLES
              lectern serve --nats embedded
              lectern serve --nats nats://10.0.0.5:4222 --config /etc/lectern.yaml
              lectern serve --http 0.0.0.0:8080 --set auth.mode=token --set auth.secret_file=/etc/lectern.secret
              lectern serve --roles gateway --nats nats://10.0.0.5:4222
              lectern serve --set cohorts.default.max_hold=60s --set history.scope=author

            Exit codes: 0 after a signal, 1 when a part of the daemon fails, 64 for arguments that cannot be parsed \
            (usage), 78 for faulty settings, also those given with --set, and for keys, certificates and credentials \
            that they name and that are missing or cannot be used.
            """)

    @OptionGroup var settings: SettingsOptions

    @Flag(name: .customLong("settings"), help: "Print every setting with its default, unit and meaning, and end.")
    var printsSettings = false

    func run() async throws {
        if printsSettings {
            print(DaemonConfiguration.reference)
            return
        }
        let sockets: PassedSockets
        do throws(PassedSockets.Unusable) {
            sockets = try PassedSockets(ProcessInfo.processInfo.environment)
        } catch {
            StandardError.write("\(error)")
            throw ExitCode(ConfigurationError.exitCode)
        }
        let loaded = try settings.load(sockets)
        let faults = await loaded.configuration.fileFaults()
        guard faults.isEmpty else {
            for fault in faults { StandardError.write(fault) }
            throw ExitCode(ConfigurationError.exitCode)
        }
        let daemon = Daemon(try settings.source(sockets), loaded, sockets)
        do {
            try await daemon.run()
        } catch {
            daemon.report(error)
            throw ExitCode.failure
        }
    }
}
