import Foundation
import TestSupport
import Testing

@testable import LecternConfiguration

@Suite("config/lectern.yaml") struct ExampleFileTests {
    let path = PackageRoot.path(to: "config/lectern.yaml")
    let file: ConfigurationFile

    init() throws {
        file = try ConfigurationFile(path: path)
    }

    @Test func `It has every key and no other`() {
        #expect(file.faults.isEmpty)
        #expect(Set(file.values.keys) == Set(DaemonConfiguration.keys))
        #expect(file.cohorts.isEmpty)
    }

    @Test func `Its keys come in the order of the reference`() {
        let inOrder = DaemonConfiguration.keys.sorted {
            file.values[$0]?.line ?? 0 < file.values[$1]?.line ?? 0
        }
        #expect(inOrder == DaemonConfiguration.keys)
    }

    @Test func `Its values are the defaults`() throws {
        #expect(try DaemonConfiguration.load(file: path) == DaemonConfiguration())
    }

    @Test(arguments: DaemonConfiguration.settings.map(\.key))
    func `Its values are written as the reference writes them`(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let sources = SettingSources(file: file, environment: [:], arguments: [:])
        let value = try #require(sources.value(of: key))
        #expect(value.text == setting.text(DaemonConfiguration()))
    }

    @Test(arguments: DaemonConfiguration.settings.map(\.key))
    func `Each key has a comment that names the bounds of its range`(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let line = try #require(file.values[key]).line
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let own = lines[..<(line - 1)].reversed().drop { !$0.contains("#") && key == "board.height" }
        let comment = own.prefix { $0.contains("#") }.reversed().joined(separator: " ")
        #expect(!comment.isEmpty)
        if setting.kind == "flag" || setting.kind == "word" {
            for word in setting.range.split(separator: " | ") { #expect(comment.contains(word)) }
        } else if setting.range.contains(" … "), setting.kind != "name", setting.key != "palette" {
            let bounds = setting.range.replacing("0, or ", with: "").replacing("…", with: "...")
            #expect(comment.contains(bounds))
        }
    }
}

@Suite("docker/Dockerfile") struct DockerfileTests {
    @Test func `All that it copies from the tree is in its context`() throws {
        func lines(_ file: String) throws -> [Substring] {
            try String(contentsOfFile: PackageRoot.path(to: file), encoding: .utf8).split(separator: "\n")
        }
        let included = try lines("docker/Dockerfile.dockerignore").filter { $0.hasPrefix("!") }.map { $0.dropFirst() }
        let copied = try lines("docker/Dockerfile").filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
            .flatMap { $0.split(separator: " ").dropFirst().dropLast() }
        #expect(!copied.isEmpty)
        for path in copied {
            #expect(included.contains { path == $0 || path.hasPrefix("\($0)/") }, "\(path)")
        }
    }
}

private let cluster = URL(filePath: PackageRoot.path(to: "config/cluster"))

private let natsServer = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite("config/cluster") struct ClusterExampleTests {
    @Test func `The daemons' files are sound, and differ in the name alone`() throws {
        let both = try ["a", "b"].map { name in
            try DaemonConfiguration.load(file: cluster.appending(path: "lectern-\(name).yaml").path)
        }
        #expect(both.map(\.node.id) == ["a", "b"])
        #expect(both[0].journal.mode == .jetstream)
        #expect(both[0].journal.replicas == 3)
        var second = both[1]
        second.node.id = "a"
        #expect(second == both[0])
    }

    @Test(.enabled(if: natsServer != nil, "there is no nats-server"))
    func `The servers' files are sound, and differ in the name alone`() throws {
        let program = try #require(natsServer)
        var texts: Set<String> = []
        for number in 1...3 {
            let file = cluster.appending(path: "nats-\(number).conf")
            #expect(try check(file, with: program, passwords: true) == 0)
            // No password is in the files.
            #expect(try check(file, with: program, passwords: false) != 0)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text.contains("\nserver_name: nats-\(number)\n"))
            texts.insert(
                text.replacing("server_name: nats-\(number)", with: "").replacing("Server \(number) of", with: ""))
        }
        #expect(texts.count == 1)
    }

    /// The exit code of the server's own check.
    private func check(_ file: URL, with program: String, passwords: Bool) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-c", file.path, "-t"]
        let users = passwords ? ["SERVICE", "GATEWAY", "TEACHER", "STUDENT", "CLOCK", "OPERATOR"] : []
        // As docker/compose.yaml has them.
        process.environment = Dictionary(
            uniqueKeysWithValues: users.map { ("INK_\($0)_PASSWORD", "'50% of: @/,\"#${}\($0)'") })
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}

@Suite struct `The reference and the listing` {
    @Test(arguments: DaemonConfiguration.settings.map(\.key))
    func `The reference tells of every key its range, default and variable`(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        let entry = try #require(
            DaemonConfiguration.reference.split(separator: "\n\n").first { $0.hasPrefix(key + "\n") })
        #expect(entry.contains("(\(setting.range))"))
        #expect(entry.contains("default \(setting.text(DaemonConfiguration()))") || entry.contains("default \"\""))
        #expect(entry.hasSuffix(SettingKeys.variable(key)))
        #expect(setting.meaning.hasSuffix("."))
    }

    @Test func `A loaded configuration has every value in force with its origin, and no password`() throws {
        let loaded = try LoadedConfiguration(
            file: nil, environment: ["LECTERN_NATS_USER": "me", "LECTERN_NATS_PASSWORD": "hunter2"],
            arguments: ["nats.url": "nats://host:1", "limits.shards": "5", "cohorts.hls.max_hold": "1m"])
        #expect(loaded.values.count == DaemonConfiguration.keys.count + 7)
        func value(_ key: String) throws -> LoadedConfiguration.Value {
            try #require(loaded.values.first { $0.key == key })
        }
        #expect(
            try value("limits.shards")
                == .init(key: "limits.shards", text: "5", origin: "argument", isDefault: false))
        #expect(try value("nats.user").origin == "LECTERN_NATS_USER")
        #expect(
            try value("nats.password")
                == .init(key: "nats.password", text: "***", origin: "LECTERN_NATS_PASSWORD", isDefault: false))
        #expect(try value("nats.credentials").line == "nats.credentials = \"\"")
        #expect(try value("cohorts.hls.max_hold").text == "1m")
        #expect(try value("cohorts.hls.policy").origin == nil)
        #expect(loaded.changed.count == 5)
        #expect(!loaded.values.contains { $0.text.contains("hunter2") })
        let withUser = try LoadedConfiguration(file: nil, arguments: ["nats.url": "nats://me:s3cret@host:1"])
        #expect(withUser.changed.map(\.line) == ["nats.url = nats://***@host:1"])
    }

    @Test func `The origin of a value of a file is its line`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("limits:\n  # a comment\n  shards: 7\n  held: 256\n".utf8).write(to: URL(filePath: path))
        let loaded = try LoadedConfiguration(file: path, arguments: [:])
        #expect(loaded.changed == [.init(key: "limits.shards", text: "7", origin: "\(path):3", isDefault: false)])
        #expect(loaded.values.first { $0.key == "limits.held" }?.origin == "\(path):4")
    }

    @Test
    func `Changes are told apart by whether they take a restart; a password counts though its text is hidden`() throws {
        func load(_ arguments: [String: String]) throws -> LoadedConfiguration {
            try LoadedConfiguration(file: nil, arguments: arguments)
        }
        let before = try load(["nats.user": "me", "nats.password": "one"])
        let after = try load([
            "nats.user": "me", "nats.password": "two", "logging.level": "debug", "limits.rooms": "7",
            "cohorts.hls.max_hold": "1m",
        ])
        let changes = SettingChanges(from: before, to: after)
        #expect(changes.live == ["logging.level"])
        #expect(changes.fixed.contains("limits.rooms") && changes.fixed.contains("nats.password"))
        #expect(changes.fixed.contains("cohorts.hls.max_hold"))
        #expect(SettingChanges(from: after, to: after).isEmpty)
        #expect(SettingChanges.liveKeys.isSubset(of: DaemonConfiguration.keys))
    }

    @Test(arguments: DaemonConfiguration.settings.map(\.key))
    func `A default in the reference is an allowed value`(key: String) throws {
        let setting = try #require(DaemonConfiguration.settings.first { $0.key == key })
        var configuration = DaemonConfiguration()
        try setting.assign(setting.text(configuration), &configuration)
        #expect(configuration == DaemonConfiguration())
    }
}
