import ArgumentParser
import Foundation
import LecternDemo
import NATSClient
import StrokeWire

/// `lectern-bench wet`: how late the points of strokes that are being drawn come to students.
struct WetBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wet",
        abstract: "Draw in many rooms, and measure how late each point comes to the students.",
        discussion: """
            The benchmark starts a NATS server and the program 'lectern' that lies beside this one. In each room one pen draws \
            strokes of 1.5 s with pauses of 0.3 s, and sends 60 updates a second with predicted points, the whole \
            stroke once a second, and the operation in the end. Two cohorts see it grow: one whose video is 300 ms \
            late, which gets points from the updates, and one that is 12 s behind, which gets them from the log.

            The lateness of a point is counted from when the cohort's video had come to it, and measured at a \
            subscriber of 100 of the rooms at most. A stroke is sent every 33 ms at most, so that a point may wait so \
            long for the next message. Goal: p99 of at most 45 ms with 100 rooms.

            Before that the same pens draw for as long without updates, to cohorts in which strokes appear whole. In \
            both halves teachers in other rooms publish strokes: their lateness, at the students of a cohort in which \
            strokes appear whole, is not to grow by more than a twentieth, in the median of the rounds. The \
            figures of NATS alone are those of copies that go through the NATS server at the same time, not through \
            the daemon: what the machine's other load does to them. CPU of a point is the difference between the \
            halves, of the daemon alone.

            EXAMPLES
              lectern-bench wet
              lectern-bench wet --rooms 500 --rounds 3
            """)

    @Option(help: "Rooms with a pen each.")
    var rooms = 100

    @Option(help: "Points of an update.")
    var points = 2

    @Option(
        help:
            "Seconds for which the pens draw in each half, above 0. Each half takes 13 s more, until the second cohort has all."
    )
    var seconds = 14.0

    @Option(help: "Rounds of both halves.")
    var rounds = 1

    @Option(help: "Rooms with a teacher who publishes 20 strokes a second.")
    var others = 20

    @Option(help: "Journal of the daemon: none or jetstream.")
    var journal = RelayBench.Journal.jetstream

    @OptionGroup var service: ServiceInput

    @OptionGroup var output: OutputForm

    /// Milliseconds by which the videos are behind.
    private static let delays: [(name: String, delay: Int64)] = [("live", 300), ("hls", 12_000)]

    func validate() throws {
        guard rooms > 0, points > 0, seconds > 0, rounds > 0, others > 0 else {
            throw ValidationError("all numbers are above 0")
        }
    }

    func run() async throws {
        var report = BenchReport(json: output.json)
        let growing = Self.delays.map { ", \($0.name): {ink: progressive}" }.joined()
        try await LocalSystem.with(
            service.program, journal: journal.rawValue, isGated: true, cohorts: ", main: {gate: none}\(growing)"
        ) { system in
            await (try system.connect()).close()
            try await measure(system, into: &report)
        }
        report.print()
    }

    private func measure(_ system: LocalSystem, into report: inout BenchReport) async throws {
        let others = try await OtherTeachers(
            rooms: others, url: system.url, root: system.root, seconds: Double(rounds) * 2 * (seconds + 16))
        let growing = try await WetHalf(isGrowing: true, rooms, points, Self.delays, system)
        let whole = try await WetHalf(isGrowing: false, rooms, points, Self.delays, system)
        var halves: [[WetFigures]] = [[], []]
        for round in 1...rounds {
            for (kind, half) in [whole, growing].enumerated() {
                Progress.say("round \(round) of \(rounds): \(rooms) pens, \(kind == 0 ? "without" : "with") wet ink")
                halves[kind].append(try await half.draw(for: seconds, beside: others, system))
            }
        }
        try await others.end()
        report.add("rooms", Double(rooms))
        report.add("updates a second", Double(rooms) * Double(WetPens.updatesPerSecond))
        for (name, latencies) in zip(Self.delays.map(\.name), growing.audience.latencies) {
            report.add("points at \(name)", latencies, p99AtMost: rooms <= 100 ? 45 : nil)
        }
        report.add("points that came before their time", Double(growing.audience.early.count), atMost: 0)
        report.add("points that came with their operation alone, %", growing.audience.dryShare * 100)
        report.add(
            "messages on .wet of a cohort for a second of drawing",
            growing.audience.messagesOfRoom / (seconds * Double(rounds)))
        let processor = halves.map { $0.map(\.processor) }
        report.add("daemon without wet ink, % of a core", processor[0].map { $0 * 100 })
        report.add("daemon with wet ink, % of a core", processor[1].map { $0 * 100 })
        report.add(
            "CPU of a point drawn, in both cohorts and at the head, µs",
            zip(halves[0], halves[1]).map { ($1.processorTime - $0.processorTime) / Double($1.points) * 1e6 })
        for (place, name) in ["p50", "p99"].enumerated() {
            for (kind, goal) in [("other operations", 1.05), ("NATS alone", nil)] {
                let values = halves.map { half in half.map { (goal == nil ? $0.floor : $0.others)[place] } }
                report.add("\(kind) without wet ink: \(name), ms", values[0])
                report.add("\(kind) with wet ink: \(name), ms", values[1])
                report.add("  with to without", median(zip(values[0], values[1]).map { $1 / $0 }), atMost: goal)
            }
        }
        await growing.close()
        await whole.close()
    }
}

/// What one half of a round came to.
struct WetFigures {
    /// Of the daemon, in seconds, and a second.
    var processorTime: Double
    var processor: Double
    var points: Int
    /// Lateness of the other teachers' operations: p50 and p99, in milliseconds.
    var others: [Double]
    /// The same of copies that go through NATS alone.
    var floor: [Double]
}

/// The rooms of one half: with strokes that grow, or without.
struct WetHalf {
    let pens: WetPens
    let audience: WetAudience
    private let connections: [NATSConnection]

    init(
        isGrowing: Bool, _ count: Int, _ points: Int, _ delays: [(name: String, delay: Int64)], _ system: LocalSystem
    ) async throws {
        let kind = isGrowing ? "wet" : "dry"
        let cohorts = try delays.map { name, delay in
            LoadCohort(name: try WetRoom.cohort(isGrowing ? name : "\(name)-whole"), delay: delay)
        }
        let rooms = try (0..<count).map { try WetRoom(root: system.root, name: "\(kind)-\($0)") }
        var connections: [NATSConnection] = []
        for _ in 0..<3 { connections.append(try await .open(system.url)) }
        self.connections = connections
        audience = try await WetAudience(rooms, cohorts, over: Array(connections[1...]))
        pens = WetPens(rooms, cohorts, points: points, sendsUpdates: isGrowing, over: connections[0])
    }

    /// Draws, and waits until the slowest cohort has all.
    func draw(for seconds: Double, beside others: OtherTeachers, _ system: LocalSystem) async throws -> WetFigures {
        // Clocks report for a while before.
        let start = LoadClock.now + 1_500_000_000
        let end = start + Int64(seconds * 1e9)
        let delay = audience.cohorts.map(\.delay).max() ?? 0
        others.latencies.reset()
        others.floor.reset()
        let (before, begin, drawn) = (system.daemon.processorTime, LoadClock.now, pens.drawn.count)
        try await pens.draw(from: start, until: end, clocksUntil: end + (delay + 1000) * 1_000_000)
        let processor = system.daemon.processorTime - before
        return WetFigures(
            processorTime: processor, processor: processor / (Double(LoadClock.now - begin) / 1e9),
            points: pens.drawn.count - drawn, others: [50, 99].map(others.latencies.percentile),
            floor: [50, 99].map(others.floor.percentile))
    }

    func close() async {
        for connection in connections { await connection.close() }
    }
}

/// Teachers in rooms without wet ink, and their students, 300 ms behind.
final class OtherTeachers: Sendable {
    private let generator: LoadGenerator
    private let audience: LoadAudience
    private let copies: LoadFloor
    private let connections: [NATSConnection]
    private let publishing: Task<Void, any Error>

    init(rooms: Int, url: String, root: String, seconds: Double) async throws {
        let cohorts = [LoadCohort(name: try WetRoom.cohort("other"), delay: 300)]
        let rooms = try (0..<rooms).map { try LoadRoom(root: root, name: "other-\($0)", partitions: 1) }
        var connections: [NATSConnection] = []
        for _ in 0..<2 { connections.append(try await .open(url)) }
        self.connections = connections
        audience = try await LoadAudience(rooms, cohorts, students: 1, over: [connections[1]])
        copies = try await LoadFloor(rate: 20 * Double(rooms.count), over: connections[1])
        generator = LoadGenerator(
            rooms, cohorts, try LoadStrokes(DemoLesson.make()), rate: 20, over: connections[0], floor: copies)
        let start = LoadClock.now + 1_500_000_000
        publishing = Task { [generator] in
            try await generator.run(strokesFrom: start, until: start + Int64(seconds * 1e9))
        }
        try await Task.sleep(for: .seconds(2.5))
    }

    var latencies: LatencyHistogram { audience.latencies[0] }
    var floor: LatencyHistogram { copies.latencies }

    func end() async throws {
        generator.stop()
        try await publishing.value
        for connection in connections { await connection.close() }
    }
}
