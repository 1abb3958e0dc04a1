import Foundation
import LecternConfiguration
import TestSupport
import Testing

private let cluster = URL(filePath: PackageRoot.path(to: "config/cluster"))

private let natsServer = ["/usr/sbin/nats-server", "/usr/local/bin/nats-server", "/usr/bin/nats-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite("config/cluster") struct ClusterExampleTests {
    @Test("The daemons' files are sound, and differ in the name alone")
    func daemons() throws {
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

    @Test(
        "The servers' files are sound, and differ in the name alone",
        .enabled(if: natsServer != nil, "there is no nats-server"))
    func servers() throws {
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
        let users = passwords ? ["SERVICE", "TEACHER", "STUDENT", "CLOCK", "OPERATOR"] : []
        process.environment = Dictionary(uniqueKeysWithValues: users.map { ("INK_\($0)_PASSWORD", "secret-\($0)") })
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
