import ArgumentParser
import Foundation
import LecternDemo

/// `lectern-bench capacity`: what this machine pays for a class, and what that makes for very many of them.
struct CapacityBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Measure what a class costs, and compute how many machines so many students need.",
        discussion: """
            The benchmark starts NATS servers and the program 'lectern' that lies beside this one, and measures in two \
            to three minutes the costs on which capacity depends: processor time of daemon, gateway and NATS server for each \
            operation, cohort, clock sample, join and event, and memory of rooms and readers. Then it computes what \
            10,000, 100,000 and 1,000,000 students need, with 1, 3 and 3 daemons at least, their gateways and NATS \
            servers. Both come as Markdown tables, between them what is assumed; put in your own classes. Goals stand \
            beside the figures, those of the second table for the classes that are assumed without options, with a ! \
            where they are missed.

            Costs are processor time, not rates: other work on the machine makes them larger, by a quarter or so, \
            because caches are shared and messages come in smaller batches. Operations and \
            samples are measured at high rates, as of a daemon that is well used: where they are rare, each wakes \
            threads, and costs a multiple. With JetStream operations are measured at such a rate, too, and the second \
            table takes what they cost there. All is of one machine. What a network, replicated streams and a NATS \
            cluster cost is not measured: the tables are a computation and no promise. 'lectern-bench load' measures \
            a running system.

            EXAMPLES
              lectern-bench capacity
              lectern-bench capacity --students-per-class 200 --operations-per-second 3 --cohorts 1
              lectern-bench capacity --browsers 0.2 --cores 8 --no-clock-batches
            """)

    @Option(help: "Students of a class.")
    var studentsPerClass = 30

    @Option(help: ArgumentHelp("Operations a second of a class, while all teachers write.", valueName: "number"))
    var operationsPerSecond = 1.0

    @Option(help: "Cohorts of a class, each with a clock.")
    var cohorts = 2

    @Option(
        help: ArgumentHelp("Share of students who read over HTTP, 0 to 1; others listen to NATS.", valueName: "share"))
    var browsers = 1.0

    @Flag(
        inversion: .prefixedNo,
        help: "Whether clock samples of many rooms come in one message, as from `lectern-probe clock --streams`.")
    var clockBatches = true

    @Option(help: ArgumentHelp("Seconds within which all students join.", valueName: "seconds"))
    var joining = 300.0

    @Option(help: "Cores of each machine.")
    var cores = 2

    @Option(help: ArgumentHelp("Share of its cores that a machine uses at most, 0 to 1.", valueName: "share"))
    var utilization = 0.4

    @Option(help: "Seconds of each measurement, above 0.")
    var seconds = 3.0

    @OptionGroup var service: ServiceInput

    @Flag(help: "Print the costs alone, as one JSON object.")
    var json = false

    func validate() throws {
        guard studentsPerClass > 0, operationsPerSecond > 0, cohorts > 0, joining > 0, cores > 0, seconds > 0 else {
            throw ValidationError("all numbers are above 0; only --browsers may be 0")
        }
        guard 0...1 ~= browsers, utilization > 0, utilization <= 1 else {
            throw ValidationError("--browsers and --utilization are shares, 1 at most")
        }
    }

    func run() async throws {
        let machine = Machine.this
        let costs = try await CapacityMeasurement(lesson: DemoLesson.make(), program: service.program, seconds: seconds)
            .run()
        if json {
            var report = BenchReport(json: true)
            for cost in costs.listed { report.add("\(cost.name), \(cost.unit)", cost.value, atMost: cost.goal) }
            return report.print()
        }
        let plan = CapacityPlan(
            students: Double(studentsPerClass), operations: operationsPerSecond, cohorts: Double(cohorts),
            clockBatches: clockBatches, browsers: browsers, joining: joining, cores: Double(cores),
            utilization: utilization)
        print("Measured on \(machine.description)")
        var table = MarkdownTable("Measured costs", ["", "cost", "goal", "how measured"])
        for cost in costs.listed { table.add([cost.name, cost.text, cost.goalText, cost.method]) }
        table.print()
        print("\n**Assumptions**\n")
        print(plan.assumptions.map { "- \($0)" }.joined(separator: "\n"))
        // Three daemons are enough for safety, however many students there are.
        func system(_ students: Double, daemonsAtLeast: Int) -> CapacitySystem {
            CapacitySystem(daemonsAtLeast: daemonsAtLeast, students: students, plan: plan, costs: costs)
        }
        CapacitySystem.table(
            [system(10_000, daemonsAtLeast: 1), system(100_000, daemonsAtLeast: 3)],
            system(1_000_000, daemonsAtLeast: 3)
        ).print()
    }
}

/// The size of this machine, and how busy it is.
struct Machine {
    let description: String

    static var this: Machine {
        let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        var loads = [0.0]
        getloadavg(&loads, 1)
        let information = ProcessInfo.processInfo
        let text = String(
            format:
                "%d cores (%@) with %.0f GB of memory, shared by daemon, NATS server and load; load average before: %.1f",
            information.activeProcessorCount, processor ?? "unknown", Double(information.physicalMemory) / 1e9,
            loads[0])
        // A reader of the table must know that it was not measured on a quiet machine.
        let isBusy = loads[0] > Double(information.activeProcessorCount) / 4
        return Machine(description: text + (isBusy ? ", so other work ran beside it." : "."))
    }
}
