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
        let connection = try await system.connect()
        try await Task.sleep(for: .seconds(1))
        let floor = try await system.processorTime(for: seconds)
        report.add("before, no rooms: daemon, % of a core", floor.daemon)
        report.add("before, no rooms: NATS server, % of a core", floor.server)
        Progress.say("filling \(rooms) rooms")
        try await messages.publish(to: try RoomAddress.rooms(rooms, root: system.root), over: connection)
        let resting = try await waitForAll(areAsleep: state == "rooms asleep", system, connection)
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
        areAsleep: Bool, _ system: LocalSystem, _ connection: NATSConnection
    ) async throws -> Int {
        let directory = RoomDirectory(connection: connection, root: system.root, window: .seconds(10))
        var inState = 0
        try await waitUntil(within: 120, every: .seconds(2), else: "the rooms have not come to rest") {
            // A daemon that writes ten thousand checkpoints may not answer in time.
            guard let list = try? await directory.rooms() else { return false }
            inState = list.rooms.count { ($0.isHibernated ?? false) == areAsleep }
            let needed = areAsleep ? rooms : rooms * 9 / 10
            return list.isComplete && list.rooms.count == rooms && inState >= needed
        }
        return inState
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
