import ArgumentParser
import Foundation
import NATSClient
import StrokeWire
import Synchronization

extension EmbeddedServer {
    /// Starts a NATS server with a folder of its own, runs a body and ends both.
    static func with(_ body: (EmbeddedServer, URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-bench-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = directory.appendingPathComponent("nats").path
        let server = try await EmbeddedServer.start(settings)
        try await run {
            try await body(server, directory)
        } finally: {
            await server.stop()
        }
    }
}

/// Runs a body, and an end of it whether it throws or not.
func run(_ body: () async throws -> Void, finally end: () async -> Void) async throws {
    do {
        try await body()
    } catch {
        await end()
        throw error
    }
    await end()
}

/// A NATS server and a daemon of the benchmark's own.
struct LocalSystem {
    let url: String
    let root = "bench"
    let daemon: RelayProcess
    /// The NATS server's process.
    let server: Int32

    /// Starts both, runs a body and ends both.
    /// - Parameters:
    ///   - http: where the daemon's gateway listens.
    ///   - cohorts: more members of `cohorts`, each after a comma.
    ///   - settings: lines of YAML, added to those of every benchmark.
    static func with(
        _ program: String?, journal: String, isGated: Bool, http: String = "off", cohorts: String = "",
        settings: String = "",
        _ body: (LocalSystem) async throws -> Void
    ) async throws {
        try await EmbeddedServer.with { server, directory in
            let daemon = try RelayProcess.service(
                program, url: server.url, root: "bench", journal: journal, isGated: isGated, http: http,
                cohorts: cohorts, settings: settings, in: directory)
            try await run {
                try await body(LocalSystem(url: server.url, daemon: daemon, server: server.processIdentifier))
            } finally: {
                await daemon.child.end(timeout: .seconds(5))
            }
        }
    }

    /// A connection, when the daemon serves.
    /// - Throws: what the daemon has said, if it has ended.
    func connect() async throws -> NATSConnection {
        let connection = try await NATSConnection.open(url)
        let subject = try RoomAddress.rooms(1, named: "none", root: root)[0].subject(.info)
        try await waitUntil(within: 30, else: "the daemon does not serve") {
            // Any answer will do, also that there is no such room.
            if (try? await connection.request(to: subject, timeout: .milliseconds(200))) != nil { return true }
            try daemon.check()
            return false
        }
        return connection
    }

    /// The processor time used during the next seconds, in per cent of a core.
    func processorTime(for seconds: Double) async throws -> (daemon: Double, server: Double) {
        let before = (daemon.processorTime, RelayProcess.processorTime(of: server))
        let begin = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        let time = (ContinuousClock.now - begin) / .seconds(1)
        return (
            (daemon.processorTime - before.0) / time * 100,
            (RelayProcess.processorTime(of: server) - before.1) / time * 100
        )
    }
}

/// Waits until a condition holds.
/// - Throws: that it does not within so many seconds.
func waitUntil(
    within seconds: Int, every pause: Duration = .milliseconds(20), else failure: @autoclosure () -> String,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw BenchFailure("\(failure()) within \(seconds) s") }
        try await Task.sleep(for: pause)
    }
}

/// Runs a body that waits on a thread of its own.
func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread { done.resume(with: Result { try body() }) }
    }
}

extension NATSConnection {
    static func open(_ url: String) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: url), logger: benchLogger)
        try await connection.connect()
        return connection
    }
}

extension RoomAddress {
    /// The addresses of rooms in one partition, which are numbered.
    static func rooms(_ count: Int, named name: String = "room", root: String) throws -> [RoomAddress] {
        try (0..<count).map { number in
            guard let room = RoomID("\(name)-\(number)") else { throw ExitCode.failure }
            return RoomAddress(root: root, room: room, partitions: 1)
        }
    }
}

/// What several threads count.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }
    func add(_ count: Int = 1) { value.add(count, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }
}
