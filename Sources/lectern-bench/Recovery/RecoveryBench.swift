import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire

/// `lectern-bench recovery`: how fast a daemon is back, and what those who join cost those who are there.
struct RecoveryBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Measure the recovery of a daemon, joins under load, and releases under a flood of requests.",
        discussion: """
            The benchmark starts a NATS server with JetStream and the program 'lectern' that lies beside this one.

            Recovery: a daemon is killed whose checkpoints have no boards, only positions; then a bare ordered \
            consumer reads the log to its end, and a daemon starts until it serves, in turn. The ratio is that of \
            their rates; the time in which a daemon starts without a log is not counted. Goal: 0.8 or more.

            Joins: students join a room with a large board while other rooms are written to. The floor is a request \
            that is answered with the same bytes at once, by this program. Goal: p99 of 20 ms or less.

            Flood: operations are released in rooms without a gate, calm and under a flood, in turn: of joins and \
            pictures of large boards, and of strokes on these, which have checkpoints every second. The floor are messages \
            that go through the NATS server alone at the same time: the daemon, the NATS server and this program share \
            the machine, and where they saturate it, these come later, too. Goal: the p99 grows 1.5 times as much as \
            theirs, or less.

            EXAMPLES
              lectern-bench recovery
              lectern-bench recovery --parts joins --rate 1000
            """)

    @Option(help: "Rooms of the log that is recovered.")
    var rooms = 200

    @Option(help: "Strokes of each room of that log, and of each large board.")
    var strokes = 1000

    @Option(help: "Operations a second in other rooms, during joins and floods.")
    var rate = 500.0

    @Option(help: "Joins a second.")
    var joins = 20.0

    @Option(help: "Seconds of each round of joins and of a flood.")
    var seconds = 10.0

    @Option(help: "Rounds of each measurement, 1 or more.")
    var rounds = 3

    @Option(
        help: ArgumentHelp("Parts to measure, with commas between them.", valueName: "recovery,joins,flood"))
    var parts = "recovery,joins,flood"

    @OptionGroup var service: ServiceInput

    @OptionGroup var output: OutputForm

    private static let allParts: Set = ["recovery", "joins", "flood"]

    private var chosenParts: Set<String> { Set(parts.split(separator: ",").map(String.init)) }

    func validate() throws {
        guard rooms > 0, strokes > 0, rate > 0, joins > 0, seconds > 0, rounds > 0 else {
            throw ValidationError("all numbers are above 0")
        }
        guard !chosenParts.isEmpty, chosenParts.isSubset(of: Self.allParts) else {
            throw ValidationError("--parts takes recovery, joins and flood")
        }
    }

    func run() async throws {
        let lesson = try DemoLesson.make()
        var report = BenchReport(json: output.json)
        if chosenParts.contains("recovery") {
            let log = RecoveryFromLog(
                messages: try RoomMessages(lesson, strokes: strokes, repeating: true), rooms: rooms, rounds: rounds,
                program: service.program)
            try await log.measure(into: &report)
        }
        if !chosenParts.isDisjoint(with: ["joins", "flood"]) {
            let boards = LargeBoards(
                messages: try RoomMessages(lesson, strokes: strokes, repeating: true), strokes: try LoadStrokes(lesson),
                rate: rate, joins: joins, seconds: seconds, rounds: rounds)
            // Checkpoints of the large boards come as often as they can.
            try await LocalSystem.with(
                service.program, journal: "jetstream", isGated: false, settings: "checkpoint: {interval: 1s}"
            ) { system in
                try await boards.measure(chosenParts, on: system, into: &report)
            }
        }
        report.print()
    }
}
