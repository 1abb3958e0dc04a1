import Testing

@testable import LecternConfiguration

/// For each key a text that is allowed, and not the default.
private let others: [String: String] = [
    "nats.url": "embedded", "nats.credentials": "/etc/lectern.creds", "nats.server": "/opt/nats-server",
    "http.listen": "off", "nats.store_dir": "/var/lib/lectern", "journal.mode": "none", "journal.replicas": "3",
    "journal.max_age": "7d", "journal.max_bytes": "10GiB", "journal.duplicate_window": "90s",
    "checkpoint.interval": "5s", "checkpoint.operations": "64", "rooms.idle": "1h", "node.id": "node-a",
    "subjects.root": "chalk", "subjects.partitions": "16",
    "board.width": "1920", "board.height": "1080.5", "colour": "rgb", "palette": "#010203,#ffffff",
    "limits.message_bytes": "128KiB", "limits.shards": "64", "limits.points": "5000", "limits.assembling": "7",
    "limits.held": "9", "limits.pending_bytes": "1MiB", "limits.authors": "3", "limits.author_idle": "90s",
    "limits.messages_per_second": "50", "limits.bytes_per_second": "500KiB", "limits.number_lead": "1000",
    "limits.board_points": "200000", "limits.rooms": "12", "history.scope": "author", "history.depth": "5",
    "history.clear": "undoable", "cohorts.open": "false", "cohorts.maximum": "2", "cohorts.default.gate": "none",
    "cohorts.default.policy": "hold", "cohorts.default.max_hold": "250ms", "cohorts.default.stale_after": "5s",
    "cohorts.default.extrapolate": "false", "fanout.max_bytes": "2000", "log.tail": "0", "log.tail_bytes": "1MiB",
    "log.held_bytes": "1GiB",
    "ink.style": "pen", "canvas.scale": "2.5", "canvas.memory": "32MiB", "server.workers": "3",
    "server.mailbox_bytes": "2MiB", "server.replies": "16", "logging.level": "debug",
]

@Suite("Setting one key") struct OverrideTests {
    /// The changed key, and what has to be given beside it for the whole to make sense.
    private func changes(_ key: String) throws -> [String: String] {
        let keys = key.hasPrefix("board.") ? ["board.width", "board.height"] : [key]
        return Dictionary(uniqueKeysWithValues: try keys.map { ($0, try #require(others[$0])) })
    }

    /// Expects the key, and what came with it, to be changed and nothing else.
    private func check(_ configuration: DaemonConfiguration, has changes: [String: String]) {
        for setting in DaemonConfiguration.settings {
            #expect(setting.text(configuration) == changes[setting.key] ?? setting.text(DaemonConfiguration()))
        }
    }

    @Test("Each key can be set by its variable, which changes nothing else", arguments: DaemonConfiguration.keys)
    func variable(key: String) throws {
        let changes = try changes(key)
        let environment = Dictionary(
            uniqueKeysWithValues: changes.map { key, text in
                ("LECTERN_" + key.uppercased().replacing(".", with: "_"), text)
            })
        check(try DaemonConfiguration.load(file: nil, environment: environment), has: changes)
    }

    @Test("Each key can be set by an argument, which changes nothing else", arguments: DaemonConfiguration.keys)
    func argument(key: String) throws {
        let changes = try changes(key)
        check(try DaemonConfiguration.load(file: nil, arguments: changes), has: changes)
    }

    @Test("Each key can be set in the file, which changes nothing else", arguments: DaemonConfiguration.keys)
    func file(key: String) throws {
        let changes = try changes(key)
        let lines = changes.map { key, text in
            key == "palette" ? "palette: [\"#010203\", \"#ffffff\"]" : "\(key): \(text)"
        }
        check(try load(file: lines.joined(separator: "\n")), has: changes)
    }

    @Test("No two keys share a variable")
    func variablesDiffer() {
        let variables = DaemonConfiguration.keys.map(SettingKeys.variable)
        #expect(Set(variables).count == variables.count)
        #expect(Set(others.keys) == Set(DaemonConfiguration.keys))
    }
}
