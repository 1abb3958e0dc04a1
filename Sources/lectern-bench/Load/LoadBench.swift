import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire

/// `lectern-bench load`: classes of any size on a running system, or on one of its own.
struct LoadBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Hold classes on a running system, and measure how late operations are released.",
        discussion: """
            In each room a teacher publishes strokes at a steady rate, video clocks report four times a second, and \
            students follow their cohort; others join all the time. Nothing waits for an answer: a service that \
            stalls gets what has become due meanwhile, and the stall counts for each operation in it.

            The latency of a release is counted from when the operation was due: when it was published, and the \
            cohort's video had come to it. It is measured at every student, and for each cohort. The figures of NATS \
            alone are those of copies of strokes that go through the NATS server at the same time, not through the \
            service: the floor. Lost are operations that a student has not got 5 s after the end; repeated, those that \
            came to a student again.

            Without --nats it starts a NATS server and the program 'lectern' that lies beside this one, and reports \
            their processor time. With --nats it uses a running system: rooms named load-…, which are closed at the \
            end if this NATS user may give commands, on ROOT.command.USER. The user also needs what teachers, students and video \
            clocks may do. Run it on another machine than the service where you can; where not, --pid names the \
            daemon whose processor time is to be reported.

            Figures of p99.9 say something from some ten thousand operations on: --seconds 60 or more.

            Exit codes: 0 when nothing was lost, refused or late; 1 when operations were lost, refused, or later than \
            --max-p99, or joins failed; 2 when NATS cannot be reached or no service answers; 64 for wrong arguments.

            EXAMPLES
              lectern-bench load
              lectern-bench load --rooms 200 --students 30 --rate 3 --cohorts main=0.5,hls=6 --seconds 60
              lectern-bench load --nats nats://10.0.0.5:4222 --rooms 50 --max-p99 20 --json
            """)

    @Option(
        help: ArgumentHelp(
            "A running system: its NATS servers, with a comma between two; user and password may stand in it. Without it one is started.",
            valueName: "url"))
    var nats: String?

    @Option(help: "With --nats: first part of all subjects, the service's subjects.root.")
    var root = "ink"

    @Option(help: "With --nats: number of partitions, the service's subjects.partitions: 1 to 1024.")
    var partitions = 1

    @Option(
        help: ArgumentHelp(
            "With --nats: process of a daemon on this machine, whose processor time is printed. Default: none.",
            valueName: "number"))
    var pid: Int32?

    @Option(help: "Without --nats: journal of the daemon, none or jetstream.")
    var journal = RelayBench.Journal.jetstream

    @Option(
        help: ArgumentHelp(
            "Without --nats: program of the daemon. Default: `lectern` beside this program.", valueName: "file"))
    var program: String?

    @Option(help: "Rooms, with one teacher each.")
    var rooms = 20

    @Option(help: "Students of each room, dealt to its cohorts in turn.")
    var students = 25

    @Option(help: ArgumentHelp("Strokes a second of each teacher.", valueName: "number"))
    var rate = 2.0

    @Option(
        help: ArgumentHelp(
            "Cohorts of each room, each with the seconds that its video is behind the teacher.",
            valueName: "name=seconds,…"))
    var cohorts = "main=0.5,hls=2"

    @Option(help: ArgumentHelp("Students who join a second, in all rooms together.", valueName: "number"))
    var joins = 10.0

    @Option(help: "Seconds for which strokes are published, above 0.")
    var seconds = 30.0

    @Option(help: "Connections that the students share.")
    var connections = 8

    @Option(
        help: ArgumentHelp(
            "Fail if the p99 of a cohort is above this, in milliseconds. Default: never.", valueName: "milliseconds"))
    var maxP99: Double?

    @OptionGroup var lesson: LessonInput

    @OptionGroup var output: OutputForm

    func validate() throws {
        guard rooms > 0, partitions > 0, rate > 0, seconds > 0, connections > 0, joins >= 0 else {
            throw ValidationError("all numbers are above 0; only --joins may be 0")
        }
        guard students >= (try parsedCohorts()).count else {
            throw ValidationError("--students is at least the number of cohorts")
        }
    }

    private func parsedCohorts() throws -> [LoadCohort] {
        let cohorts = try cohorts.split(separator: ",").map { part in
            let fields = part.split(separator: "=")
            guard fields.count == 2, let name = CohortName(String(fields[0])), let delay = Double(fields[1]),
                0...3600 ~= delay
            else { throw ValidationError("--cohorts takes name=seconds, with commas in between, not \"\(part)\"") }
            return LoadCohort(name: name, delay: Int64(delay * 1000))
        }
        guard !cohorts.isEmpty, Set(cohorts.map(\.name)).count == cohorts.count else {
            throw ValidationError("--cohorts names each cohort once, and at least one")
        }
        return cohorts
    }

    func run() async throws {
        let lesson = try self.lesson.load()
        let strokes = try LoadStrokes(lesson)
        guard let nats else {
            return try await LocalSystem.with(program, journal: journal.rawValue, isGated: true) { system in
                try await measure(
                    strokes, url: system.url, root: system.root, partitions: 1,
                    processes: [("daemon", system.daemon.child.identifier), ("NATS server", system.server)])
            }
        }
        try await measure(
            strokes, url: nats, root: root, partitions: partitions, processes: pid.map { [("daemon", $0)] } ?? [])
    }

    private func measure(
        _ strokes: LoadStrokes, url: String, root: String, partitions: Int, processes: [(name: String, id: Int32)]
    ) async throws {
        let plan = LoadPlan(
            rooms: rooms, students: students, rate: rate, cohorts: try parsedCohorts(), joins: joins,
            seconds: seconds, connections: connections)
        let run = try await LoadRun(plan, strokes, url: url, root: root, partitions: partitions)
        let processor = processes.map { RelayProcess.processorTime(of: $0.id) }
        let begin = ContinuousClock.now
        do {
            try await run.hold()
        } catch {
            await run.close()
            throw error
        }
        let time = (ContinuousClock.now - begin) / .seconds(1)
        var report = BenchReport(json: output.json)
        run.report(into: &report)
        for (process, before) in zip(processes, processor) {
            let used = RelayProcess.processorTime(of: process.id) - before
            report.add("CPU of the \(process.name), % of a core", used / time * 100)
        }
        let faults = run.faults(maxP99: maxP99)
        await run.close()
        report.print()
        for fault in faults { Progress.say("lectern-bench: \(fault)") }
        if !faults.isEmpty { throw ExitCode.failure }
    }
}
