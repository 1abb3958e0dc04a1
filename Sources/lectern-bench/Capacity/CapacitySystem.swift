import Foundation

/// The classes that are assumed, and the machines.
struct CapacityPlan {
    /// Clock samples of a cohort a second.
    static let samples = 4.0
    /// Marks of a cohort a second, while it is written to: on NATS, and to a reader over HTTP while the video goes on.
    static let marks = 1.0
    static let readerMarks = 0.2
    /// Sizes of an event to a reader: an operation and a mark, not compressed.
    static let operationBytes = 800.0
    static let markBytes = 250.0
    /// The bound of a gateway.
    static let readersOfGateway = 50_000.0
    /// Of an hour of class: teachers write a third of the time.
    static let writing = 1200.0
    static let classHours = 4.0
    static let days = 30.0
    /// Times that a cluster of NATS servers handles a message: it may have to go to another server.
    static let clusterHops = 2.0

    var students: Double
    var operations: Double
    var cohorts: Double
    /// Whether clock samples come in messages with those of many rooms.
    var clockBatches: Bool
    var browsers: Double
    var joining: Double
    var cores: Double
    var utilization: Double

    var assumptions: [String] {
        let short = Figure.short
        return [
            "students of a class: \(short(students)) (--students-per-class); operations a second of a class, while all "
                + "teachers write: \(short(operations)) (--operations-per-second); cohorts of a class: \(short(cohorts)) "
                + "(--cohorts), with \(short(Self.samples)) clock samples a second each",
            clockBatches
                ? "clock samples of many rooms come in one message (--no-clock-batches for one each)"
                : "each clock sample is a message (--no-clock-batches)",
            "a student gets every operation, and a mark each second on NATS, each \(short(1 / Self.readerMarks)) s over "
                + "HTTP; an event with an operation has \(short(Self.operationBytes)) bytes, one with a mark "
                + "\(short(Self.markBytes)), and costs as much",
            "\(short(browsers * 100)) % of students read over HTTP (--browsers); others listen to NATS, each on a connection",
            "all students join within \(short(joining)) s (--joining)",
            "machines of \(short(cores)) cores (--cores), used to \(short(utilization * 100)) % at the busiest moment "
                + "(--utilization), so that one may fail; a core does as much on each as on this machine",
            "a class goes to one gateway; a gateway has at most \(short(Self.readersOfGateway)) readers, and of ten "
                + "gateways one is spare",
            "NATS servers in a cluster handle each message \(short(Self.clusterHops)) times; streams have one copy",
            "\(short(Self.classHours)) hours of class a day with a room each, \(short(Self.writing)) s of each hour "
                + "written; logs and checkpoints are kept for \(short(Self.days)) days",
        ]
    }
}

/// What so many students need, computed.
struct CapacitySystem {
    /// As many as there are for safety; more where their processors ask for it.
    let daemonsAtLeast: Int
    let students: Double
    let plan: CapacityPlan
    let costs: CapacityCosts

    private var isCluster: Bool { daemonsAtLeast > 1 }
    private var classes: Double { (students / plan.students).rounded(.up) }
    private var readers: Double { students * plan.browsers }
    /// Cores of a machine that may be used.
    private var usable: Double { plan.cores * plan.utilization }
    private var samples: Double { classes * plan.cohorts * CapacityPlan.samples }

    /// Of a class, in seconds of a core a second. Operations come alone: that is too much for daemons with very many.
    private var classCost: Double {
        plan.operations * (costs.loneOperation + (plan.cohorts - 1) * costs.journaled.cohort)
            + notes * costs.note
            + plan.cohorts * CapacityPlan.samples * (plan.clockBatches ? costs.sharedSample : costs.sample)
    }
    /// Of a class, a second: its checkpoint notes at most once a second what was taken and released.
    private var notes: Double { min(1, plan.operations) }
    private var roomCores: Double { classes * classCost }
    private var daemons: Int { max(daemonsAtLeast, Int((roomCores / usable).rounded(.up))) }
    /// Students whose classes the daemons have room for.
    private var most: Double { Double(daemons) * usable / classCost * plan.students }
    /// With one of the daemons failed.
    private var daemonBytes: Double {
        costs.daemon + costs.burst + costs.roomInUse * classes / Double(max(1, daemons - 1))
    }

    private var messagesOfCohort: Double { plan.operations + CapacityPlan.marks }
    private var events: Double { readers * (plan.operations + CapacityPlan.readerMarks) }
    private var eventCores: Double { events * costs.event }
    private var joinCores: Double { readers / plan.joining * costs.join }
    private var gatewayCores: Double { eventCores + joinCores }
    private var gateways: Int {
        let needed = max(gatewayCores / usable, readers / CapacityPlan.readersOfGateway)
        return readers == 0 ? 0 : max(1, Int(needed.rounded(.up)))
    }
    private var spareGateways: Int { Int((Double(gateways) / 10).rounded(.up)) }
    private var isGatewayInDaemon: Bool { !isCluster && gateways == 1 && roomCores + gatewayCores <= usable }
    private var gatewayText: String {
        guard gateways > 0 else { return "0" }
        return isGatewayInDaemon
            ? "1, in the daemon"
            : "\(Figure.grouped(gateways)) + \(Figure.grouped(spareGateways))"
    }
    private var readersOfGateway: Double { gateways == 0 ? 0 : readers / Double(gateways) }
    private var bytesToReaders: Double {
        readers * (plan.operations * CapacityPlan.operationBytes + CapacityPlan.readerMarks * CapacityPlan.markBytes)
    }

    /// - Parameter direct: students who listen to NATS themselves.
    private func natsCores(direct: Double) -> Double {
        let ofClass =
            plan.operations * costs.serverLoneOperation + notes * costs.serverNote
            + plan.cohorts * CapacityPlan.samples * (plan.clockBatches ? costs.serverSharedSample : costs.serverSample)
            + plan.cohorts * messagesOfCohort * costs.delivery
        return (classes * ofClass + direct * messagesOfCohort * costs.delivery)
            * (isCluster ? CapacityPlan.clusterHops : 1)
    }
    private func natsServers(direct: Double) -> Int {
        max(isCluster ? 3 : 1, Int((natsCores(direct: direct) / usable).rounded(.up)))
    }
    private var natsServers: Int { natsServers(direct: students - readers) }
    private var logBytes: Double { classes * plan.operations * costs.logged }
    private var storedHours: Double { CapacityPlan.classHours * CapacityPlan.days }

    private func goal(_ most: Double, _ count: Int) -> String {
        Goal(bound: .atMost, value: most).text(for: Double(count))
    }

    /// A table of several; the last has goals.
    static func table(_ systems: [CapacitySystem], _ last: CapacitySystem) -> MarkdownTable {
        let systems = systems + [last]
        func row(
            _ name: String, _ formula: String, goal: String = "", _ value: (CapacitySystem) -> String
        ) -> [String] {
            [name, formula] + systems.map(value) + [goal]
        }
        func number(_ name: String, _ formula: String, _ value: (CapacitySystem) -> Double) -> [String] {
            row(name, formula) { Figure.short(value($0)) }
        }
        func size(
            _ name: String, _ formula: String, unit: String = "", _ value: (CapacitySystem) -> Double
        ) -> [String] {
            row(name, formula) { Figure.bytes(value($0)) + unit }
        }
        let rows = [
            row("classes", "students ∕ a class") { Figure.grouped(Int($0.classes)) },
            number("operations a second", "classes · operations") { $0.classes * $0.plan.operations },
            number("clock samples a second", "classes · cohorts · samples", \.samples),
            number("cores busy with rooms", "operations, cohorts, notes and samples · costs", \.roomCores),
            row("**daemons**", "for safety, or by cores", goal: last.goal(8, last.daemons)) {
                "**\(Figure.grouped($0.daemons))**"
            },
            number("… their cores used, %", "") { $0.roomCores / Double($0.daemons) / $0.plan.cores * 100 },
            number("… students they could carry", "daemons · usable cores ∕ a class's cost", \.most),
            size("memory of a daemon", "without rooms + burst + rooms, one failed", \.daemonBytes),
            number("events a second to readers", "readers · (operations + marks)", \.events),
            number("cores busy with events", "events · cost", \.eventCores),
            number("… with joins, at first", "readers ∕ joining · cost", \.joinCores),
            row(
                "**gateways** + spare", "by readers, or by cores",
                goal: last.goal(25, last.gateways + last.spareGateways)
            ) {
                "**\($0.gatewayText)**"
            },
            size("memory of a gateway", "without rooms + its readers") {
                $0.costs.daemon + $0.costs.reader * $0.readersOfGateway
            },
            row("open files of a gateway", "its readers + 64") { Figure.grouped(Int($0.readersOfGateway) + 64) },
            row("to readers, Mbit/s", "bytes of their events") { Figure.short($0.bytesToReaders * 8 / 1e6) },
            number("cores busy with NATS", "operations, notes, samples, deliveries · costs") {
                $0.natsCores(direct: $0.students - $0.readers)
            },
            row("**NATS servers**", "for safety, or by cores", goal: last.goal(15, last.natsServers)) {
                "**\(Figure.grouped($0.natsServers))**"
            },
            row("… if all students listen to NATS", "students · messages · cost of a delivery") {
                Figure.grouped($0.natsServers(direct: $0.students))
            },
            size("log written", "operations · bytes", unit: " a second", \.logBytes),
            size("disk for logs", "hours · written seconds · that") {
                $0.logBytes * CapacityPlan.writing * $0.storedHours
            },
            size("disk for checkpoints", "hours · classes · two of a room") {
                2 * $0.costs.checkpoint * $0.classes * $0.storedHours
            },
        ]
        var table = MarkdownTable(
            "Computed capacity",
            ["", "formula"] + systems.map { "\(Figure.grouped(Int($0.students))) students" } + ["goal"])
        for row in rows { table.add(row) }
        return table
    }
}
