import StrokeWire
import Testing
import Whiteboard

@testable import LecternConfiguration

/// The tests of LecternConfiguration go over all keys of the reference: sources, formats, faults and the example file.
@Suite struct `Which source wins` {
    static let file = """
        limits:
          shards: 10
          authors: 10
          held: 10
        """

    @Test func `An argument wins over the environment, that over the file, that over the default`() throws {
        let limits = try load(
            file: Self.file, environment: ["LECTERN_LIMITS_SHARDS": "20", "LECTERN_LIMITS_AUTHORS": "20"],
            arguments: ["limits.shards": "30"]
        ).limits.intake
        #expect(limits.wire.shards == 30)
        #expect(limits.authors == 20)
        #expect(limits.held == 10)
        #expect(limits.assembling == IntakeLimits().assembling)
    }

    @Test(arguments: ["", "\n\n", "# nothing\n", "{}", "limits:\n", "~"])
    func `A file without any key is a file of defaults`(contents: String) throws {
        #expect(try load(file: contents) == DaemonConfiguration())
    }

    @Test func `A bad value that is not in force stops nothing`() throws {
        let configuration = try load(file: "limits:\n  shards: many", environment: ["LECTERN_LIMITS_SHARDS": "20"])
        #expect(configuration.limits.intake.wire.shards == 20)
    }

    @Test func `A palette is a list in the file and has commas elsewhere`() throws {
        let two = try #require(Palette(["#000000", "#FFffff"]))
        #expect(try load(file: "palette: [\"#000000\", \"#FFffff\"]").palette == two)
        #expect(try load(file: "palette:\n- '#000000'\n- '#ffffff'").palette == two)
        #expect(try load(file: "", environment: ["LECTERN_PALETTE": "#000000,#ffffff"]).palette == two)
        #expect(try load(file: "", arguments: ["palette": "#000000,#ffffff"]).palette == two)
    }

    @Test("Variables that Kubernetes sets beside a service called lectern, and those of others, are passed over")
    func foreignVariables() throws {
        let environment = [
            "LECTERN_SERVICE_HOST": "10.0.0.1", "LECTERN_SERVICE_PORT_HTTP": "80", "LECTERN_PORT": "tcp://10.0.0.1:80",
            "LECTERN_PORT_80_TCP_ADDR": "10.0.0.1", "PATH": "/bin", "LECTERNS": "2", "lectern_limits_shards": "x",
        ]
        #expect(try DaemonConfiguration.load(file: nil, environment: environment) == DaemonConfiguration())
    }
}

/// For each key a text that is allowed, and not the default.
private let others: [String: String] = [
    "nats.url": "embedded", "nats.credentials": "/etc/lectern.creds", "nats.server": "/opt/nats-server",
    "nats.user": "service", "nats.password": "***", "nats.gateway_user": "gateway", "nats.gateway_password": "***",
    "nats.inbox_prefix": "_REPLIES.here", "nats.ca": "/etc/ca.pem", "nats.certificate": "/etc/me.pem",
    "nats.key": "/etc/me.key", "http.listen": "off", "http.admin": "127.0.0.1:8081", "http.base_path": "/board/",
    "http.allowed_origins": "https://school.example,http://localhost:3000",
    "http.trusted_proxies": "10.0.0.1,192.168.0.0/16,fe80::/10", "http.media_origins": "https://video.example",
    "http.languages": "/etc/lectern/languages", "http.reader_buffer": "256KiB", "http.skew_alarm": "900ms",
    "auth.mode": "token", "auth.insecure": "true", "auth.secret_file": "/etc/secret",
    "auth.public_key_file": "/etc/key.pem", "nats.store_dir": "/var/lib/lectern", "journal.mode": "none",
    "journal.replicas": "3", "journal.max_age": "7d", "journal.max_bytes": "10GiB",
    "journal.store_bytes": "20GiB", "journal.recreate_streams": "true", "assets.max_bytes": "unlimited",
    "assets.room_bytes": "8MiB", "audit.max_age": "90d", "audit.max_bytes": "4MiB", "checkpoint.interval": "5s",
    "checkpoint.operations": "64", "rooms.idle": "1h", "node.id": "node-a", "node.roles": "core",
    "subjects.root": "chalk", "subjects.partitions": "16", "board.width": "1920", "board.height": "1080.5",
    "board.features": "", "colour": "rgb", "palette": "#010203,#ffffff", "limits.message_bytes": "128KiB",
    "limits.shards": "64", "limits.points": "5000", "limits.assembling": "7", "limits.held": "9",
    "limits.pending_bytes": "1MiB", "limits.authors": "3", "limits.author_idle": "90s",
    "limits.messages_per_second": "50", "limits.bytes_per_second": "500KiB",
    "limits.board_points": "200000", "limits.rooms": "12", "limits.stored_rooms": "13",
    "limits.sleeping_bytes": "2MiB", "history.scope": "author", "history.depth": "5", "history.clear": "final",
    "cohorts.open": "false", "cohorts.maximum": "2", "cohorts.default.gate": "none", "cohorts.default.policy": "hold",
    "cohorts.default.max_hold": "250ms", "cohorts.default.stale_after": "5s", "cohorts.default.extrapolate": "false",
    "cohorts.default.encoding": "binary", "cohorts.default.ink": "progressive",
    "log.tail": "0", "log.tail_bytes": "1MiB", "log.held_bytes": "1GiB", "ink.style": "pen", "ink.tip": "marker",
    "canvas.scale": "2.5", "canvas.memory": "32MiB", "server.workers": "3", "server.mailbox_bytes": "2MiB",
    "server.reply_bytes": "3MiB",
    "logging.level": "debug", "logging.format": "json",
]

@Suite struct `Setting one key` {
    /// The changed key, and what has to be given beside it for the whole to make sense.
    private func changes(_ key: String) throws -> [String: String] {
        let together = [
            ["board.width", "board.height"], ["nats.certificate", "nats.key"], ["nats.user", "nats.password"],
            ["nats.gateway_user", "nats.gateway_password"], ["auth.mode", "auth.secret_file"],
        ]
        let keys = together.first { $0.contains(key) } ?? [key]
        return Dictionary(uniqueKeysWithValues: try keys.map { ($0, try #require(others[$0])) })
    }

    /// Expects the key, and what came with it, to be changed and nothing else.
    private func check(_ configuration: DaemonConfiguration, has changes: [String: String]) {
        for setting in DaemonConfiguration.settings {
            #expect(setting.text(configuration) == changes[setting.key] ?? setting.text(DaemonConfiguration()))
        }
    }

    @Test(arguments: DaemonConfiguration.keys)
    func `Each key can be set by its variable, which changes nothing else`(key: String) throws {
        let changes = try changes(key)
        let environment = Dictionary(
            uniqueKeysWithValues: changes.map { key, text in
                ("LECTERN_" + key.uppercased().replacing(".", with: "_"), text)
            })
        check(try DaemonConfiguration.load(file: nil, environment: environment), has: changes)
    }

    @Test(arguments: DaemonConfiguration.keys)
    func `Each key can be set by an argument, which changes nothing else`(key: String) throws {
        let changes = try changes(key)
        check(try DaemonConfiguration.load(file: nil, arguments: changes), has: changes)
    }

    @Test(arguments: DaemonConfiguration.keys)
    func `Each key can be set in the file, which changes nothing else`(key: String) throws {
        let changes = try changes(key)
        let lines = changes.map { key, text -> String in
            let isList = DaemonConfiguration.settings.first { $0.key == key }?.isList ?? false
            let texts = text.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ", ")
            return isList ? "\(key): [\(texts)]" : "\(key): '\(text)'"
        }
        check(try load(file: lines.joined(separator: "\n")), has: changes)
    }

    @Test func `No two keys share a variable`() {
        let variables = DaemonConfiguration.keys.map(SettingKeys.variable)
        #expect(Set(variables).count == variables.count)
        #expect(Set(others.keys) == Set(DaemonConfiguration.keys))
    }
}

@Suite struct `Settings of rooms` {
    @Test func `The defaults are the defaults of a room, but for undoable clears and open gates`() {
        var expected = RoomConfiguration()
        expected.history.clear = .undoable
        expected.intake.wire.features.insert(.undoableClears)
        // A room of the library has a video.
        expected.cohorts.defaults.gate = .auto
        #expect(DaemonConfiguration().room == expected)
    }

    @Test func `The size of the palette is the range of colours`() throws {
        var configuration = DaemonConfiguration()
        configuration.palette = try #require(Palette(["#000000", "#ffffff"]))
        #expect(configuration.room.intake.wire.colours == .palette(count: 2))
        configuration.colour = .rgb
        #expect(configuration.room.intake.wire.colours == .rgb)
    }

    @Test func `The scope of a history is told to clients`() {
        var configuration = DaemonConfiguration()
        #expect(!configuration.room.intake.wire.features.contains(.authorScope))
        configuration.history.scope = .author
        #expect(configuration.room.intake.wire.features.contains(.authorScope))
        #expect(BoardFeatures(names: ["author-scope"]).names == ["author-scope"])
    }

    @Test func `A board size is given or left to the first draw`() throws {
        #expect(DaemonConfiguration().boardSize == nil)
        let arguments = ["board.width": "800", "board.height": "600.5"]
        #expect(
            try DaemonConfiguration.load(file: nil, arguments: arguments).room.boardSize
                == BoardSize(width: 800, height: 600.5))
    }

    @Test func `Every setting of a room arrives there`() throws {
        let arguments = [
            "limits.message_bytes": "128KiB", "limits.shards": "2", "limits.points": "3", "limits.assembling": "4",
            "limits.held": "5", "limits.pending_bytes": "6MiB", "limits.authors": "7", "limits.author_idle": "8s",
            "limits.messages_per_second": "9", "limits.bytes_per_second": "10MiB",
            "limits.board_points": "12", "history.scope": "author", "history.depth": "13", "history.clear": "final",
            "cohorts.open": "false", "cohorts.maximum": "14", "cohorts.default.gate": "none",
            "cohorts.default.policy": "hold", "cohorts.default.max_hold": "15s", "cohorts.default.stale_after": "16s",
            "cohorts.default.extrapolate": "false", "cohorts.default.encoding": "binary",
            "cohorts.default.ink": "progressive", "log.tail": "17", "log.tail_bytes": "19MiB",
            "log.held_bytes": "18MiB", "board.features": "",
        ]
        let expected = RoomConfiguration(
            intake: IntakeLimits(
                wire: WireLimits(messageBytes: 131_072, shards: 2, points: 3, features: .authorScope), assembling: 4,
                held: 5,
                pendingBytes: 6 << 20, authors: 7, authorIdle: .seconds(8), messagesPerSecond: 9,
                bytesPerSecond: 10 << 20, boardPoints: 12),
            history: HistoryConfiguration(scope: .author, depth: 13, clear: .final),
            cohorts: CohortsConfiguration(
                defaults: CohortSettings(
                    gate: .none, policy: .hold, maxHold: .seconds(15), staleAfter: .seconds(16), extrapolate: false,
                    encoding: .binary, ink: .progressive),
                open: false, maximum: 14),
            log: LogRetention(tail: 17, tailBytes: 19 << 20, heldBytes: 18 << 20))
        #expect(try DaemonConfiguration.load(file: nil, arguments: arguments).room == expected)
    }
}
