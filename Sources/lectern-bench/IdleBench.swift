import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire

/// `lectern-bench idle`: what rooms cost in which nothing happens.
struct IdleBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle",
        abstract: "Measure the processor time of a daemon in whose rooms nothing happens.",
        discussion: """
            The benchmark starts a NATS server with JetStream and the program 'lectern' that lies beside this one. Every room gets a \
            few strokes; then nothing is sent any more. The daemon is measured without rooms, which is the floor; with \
            all rooms asleep, that is, in their checkpoints; and with all rooms in memory, where each sends a mark \
            every ten seconds. Figures are per cent of one core, of the daemon and of the NATS server.

            EXAMPLES
              lectern-bench idle
              lectern-bench idle --rooms 1000 --seconds 60
            """)

    @Option(help: "Number of rooms.")
    var rooms = 10_000

    @Option(help: "Strokes of each room.")
    var strokes = 3

    @Option(help: "Seconds of each measurement, above 0.")
    var seconds = 20.0

    @OptionGroup var service: ServiceInput

    @OptionGroup var output: OutputForm

    func validate() throws {
        guard rooms > 0, strokes > 0, seconds > 0 else { throw ValidationError("all numbers are above 0") }
    }

    func run() async throws {
        let messages = try RoomMessages(DemoLesson.make(), strokes: strokes)
        var report = BenchReport(json: output.json)
        report.add("rooms", Double(rooms))
        try await LocalSystem.with(service.program, journal: "jetstream", isGated: false, settings: "rooms: {idle: 1s}")
        {
            system in
            try await measure("rooms asleep", messages, system, &report, settling: 5)
        }
        try await LocalSystem.with(service.program, journal: "jetstream", isGated: false, settings: "rooms: {idle: 1h}")
        {
            system in
            // Marks are rarer 30 s after the last release.
            try await measure("rooms in memory", messages, system, &report, settling: 35)
        }
        report.print()
    }

    private func measure(
        _ state: String, _ messages: RoomMessages, _ system: LocalSystem, _ report: inout BenchReport,
        settling: Double
    ) async throws {
        let connection = NATSConnection(NATSSettings(url: system.url), logger: benchLogger)
        try await connection.connect()
        try await system.waitUntilServing(over: connection)
        try await Task.sleep(for: .seconds(1))
        let floor = try await system.processorTime(for: seconds)
        report.add("before, no rooms: daemon, % of a core", floor.daemon)
        report.add("before, no rooms: NATS server, % of a core", floor.server)
        Progress.say("filling \(rooms) rooms")
        let addresses = try (0..<rooms).map { number in
            guard let room = RoomID("room-\(number)") else { throw ExitCode.failure }
            return RoomAddress(root: system.root, room: room, partitions: 1)
        }
        try await messages.publish(to: addresses, over: connection)
        let resting = try await waitForAll(addresses.count, areAsleep: state == "rooms asleep", system, connection)
        Progress.say("measuring: \(state)")
        try await Task.sleep(for: .seconds(settling))
        let idle = try await system.processorTime(for: seconds)
        report.add(state, Double(resting))
        report.add("\(state): daemon, % of a core", idle.daemon)
        report.add("\(state): NATS server, % of a core", idle.server)
        await connection.close()
    }

    /// Waits until the service lists all rooms, and all of them as asleep, or nearly all of them as in memory: each worker
    /// has places for its share.
    /// - Returns: how many are.
    private func waitForAll(
        _ count: Int, areAsleep: Bool, _ system: LocalSystem, _ connection: NATSConnection
    ) async throws -> Int {
        let directory = RoomDirectory(connection: connection, root: system.root, window: .seconds(10))
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            // A daemon that writes ten thousand checkpoints may not answer in time.
            guard let list = try? await directory.rooms() else { continue }
            let inState = list.rooms.count { ($0.isHibernated ?? false) == areAsleep }
            let needed = areAsleep ? count : count * 9 / 10
            if list.isComplete, list.rooms.count == count, inState >= needed { return inState }
            try await Task.sleep(for: .seconds(2))
        }
        throw ValidationError("the rooms have not come to rest within 120 s")
    }
}

extension RoomMessages {
    /// Publishes the messages of all rooms to a journal, one room after the other, as if all classes were held at once.
    func publish(to addresses: [RoomAddress], over connection: NATSConnection) async throws {
        let subjects = addresses.map { $0.subject(.input(author)) }
        for (number, message) in messages.enumerated() {
            for (position, subject) in subjects.enumerated() {
                // JetStream drops messages that come faster than it writes: its answer to one confirms those before.
                if position.isMultiple(of: 1000) || position == subjects.count - 1 {
                    _ = try await connection.request(message, to: subject, timeout: .seconds(30))
                } else {
                    try connection.publish(message, to: subject)
                }
            }
            Progress.say(number + 1, of: messages.count, "messages of every room published")
        }
    }
}

extension LocalSystem {
    /// - Throws: what the daemon has said, if it has ended.
    func waitUntilServing(over connection: NATSConnection) async throws {
        guard let room = RoomID("none") else { throw ExitCode.failure }
        let subject = RoomAddress(root: root, room: room, partitions: 1).subject(.info)
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            // Any answer will do, also that there is no such room.
            if (try? await connection.request(to: subject, timeout: .milliseconds(200))) != nil { return }
            try daemon.check()
            try await Task.sleep(for: .milliseconds(20))
        }
        throw ValidationError("the daemon does not serve within 30 s")
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
