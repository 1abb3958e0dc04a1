import ArgumentParser
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// A daemon that was killed and reads its log again, beside a bare ordered consumer of the same stream.
///
/// Only positions are in the checkpoints, no boards: so all of the log is read, and nothing of it is sent again.
struct RecoveryFromLog {
    let messages: RoomMessages
    let rooms: Int
    let rounds: Int
    let program: String?
    private static let root = "bench"

    func measure(into report: inout BenchReport) async throws {
        try await EmbeddedServer.with { server, directory in
            let connection = try await NATSConnection.open(server.url)
            try await run {
                try await measure(server, connection, directory, &report)
            } finally: {
                await connection.close()
            }
        }
    }

    private func measure(
        _ server: EmbeddedServer, _ connection: NATSConnection, _ directory: URL, _ report: inout BenchReport
    ) async throws {
        // The first start makes the streams.
        var empty: [Cost] = []
        for _ in 0...rounds { empty.append(try await restart(server, connection, directory)) }
        try await work(server, connection, directory)
        let start = Cost(seconds: median(empty.map(\.seconds)), processor: median(empty.map(\.processor)))
        let count = Double(rooms * messages.messages.count)
        var bare: [Cost] = []
        var recovered: [Cost] = []
        for round in 1...rounds {
            Progress.say("recovery, round \(round) of \(rounds)")
            bare.append(try await read(connection, expecting: rooms * messages.messages.count))
            let cost = try await restart(server, connection, directory)
            recovered.append(
                Cost(seconds: cost.seconds - start.seconds, processor: cost.processor - start.processor))
        }
        report.add("start without a log: seconds until it serves", empty.map(\.seconds))
        report.add("recovery: records of the log", count)
        let bareRates = bare.map { count / $0.seconds }
        let rates = recovered.map { count / $0.seconds }
        report.add("bare ordered consumer: records a second", bareRates)
        report.add("daemon: records a second", rates)
        report.add("recovery: daemon to bare consumer", median(rates) / median(bareRates), atLeast: 0.8)
        report.add("bare ordered consumer: processor µs a record", bare.map { $0.processor / count * 1e6 })
        report.add("daemon: processor µs a record", recovered.map { $0.processor / count * 1e6 })
    }

    /// Seconds by the clock and of the processors.
    private struct Cost {
        let seconds, processor: Double
    }

    /// Reads the log to its end, and only counts.
    private func read(_ connection: NATSConnection, expecting count: Int) async throws -> Cost {
        var settings = OrderedConsumerSettings(stream: "BENCH_LOG_0", start: 1)
        settings.thread = .connection
        let records = Counter()
        let processor = RelayProcess.processorTime(of: getpid())
        let begin = ContinuousClock.now
        try await JetStream(connection).readToEnd(
            settings, logger: benchLogger,
            decode: { _, _ in
                records.add()
                return nil as Int?
            }, take: { _ in })
        let time = (ContinuousClock.now - begin) / .seconds(1)
        guard records.count == count else { throw ValidationError("the log has \(records.count) of \(count) records") }
        return Cost(seconds: time, processor: RelayProcess.processorTime(of: getpid()) - processor)
    }

    /// A daemon serves while all strokes are drawn, and is killed after it has told and released them all.
    private func work(
        _ server: EmbeddedServer, _ connection: NATSConnection, _ directory: URL
    ) async throws {
        let (daemon, _) = try await start(server, connection, directory)
        try await messages.publish(to: try RoomAddress.rooms(rooms, root: Self.root), over: connection)
        let directory = RoomDirectory(connection: connection, root: Self.root, window: .seconds(10))
        try await waitUntil(within: 120, every: .seconds(1), else: "not all is released") {
            try await directory.rooms().haveReleased(UInt64(messages.strokes), in: rooms)
        }
        // Positions are saved every second.
        try await Task.sleep(for: .seconds(3))
        await kill(daemon)
    }

    /// Starts a daemon and kills it when it serves.
    /// - Returns: from the start of the process until it says that it serves.
    private func restart(
        _ server: EmbeddedServer, _ connection: NATSConnection, _ directory: URL
    ) async throws -> Cost {
        let (daemon, seconds) = try await start(server, connection, directory)
        let cost = Cost(seconds: seconds, processor: daemon.processorTime)
        await kill(daemon)
        // The next one would take it for alive.
        try await Task.sleep(for: .seconds(3.5))
        return cost
    }

    private func kill(_ daemon: RelayProcess) async {
        Foundation.kill(daemon.child.identifier, SIGKILL)
        await daemon.child.end(timeout: .zero)
    }

    private func start(
        _ server: EmbeddedServer, _ connection: NATSConnection, _ directory: URL
    ) async throws -> (daemon: RelayProcess, seconds: Double) {
        let (announcements, inlet) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let subscription = try connection.subscribe("\(Self.root).members.*") { message in
            let text = String(decoding: message.copyPayload(), as: UTF8.self)
            if text.contains(#""serving":[0]"#) { inlet.yield(.now) }
        }
        defer { subscription.unsubscribe() }
        try await connection.flush()
        let begin = ContinuousClock.now
        let daemon = try RelayProcess.service(
            program, url: server.url, root: Self.root, journal: "jetstream", isGated: false,
            settings: "checkpoint: {interval: 1h, operations: 1000000}", in: directory)
        let timeout = Task {
            try await Task.sleep(for: .seconds(120))
            inlet.finish()
        }
        defer { timeout.cancel() }
        let serving = await announcements.first { _ in true }
        try daemon.check()
        guard let serving else {
            await kill(daemon)
            throw ValidationError("the daemon does not serve within 120 s")
        }
        return (daemon, (serving - begin) / .seconds(1))
    }
}

extension MergedRoomList {
    fileprivate func haveReleased(_ index: UInt64, in count: Int) -> Bool {
        isComplete && rooms.count == count && rooms.allSatisfy { $0.cohorts.allSatisfy { $0.index >= index } }
    }
}
