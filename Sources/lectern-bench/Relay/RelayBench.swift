import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire

/// `lectern-bench relay`: the way from NATS to NATS, beside a relay that does nothing else.
struct RelayBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Send operations through the daemon and through a bare relay, in turn, and compare.",
        discussion: """
            The benchmark starts a NATS server, the program 'lectern' that lies beside this one, and a relay written in C with \
            libnats that publishes the same three messages for each operation and decodes nothing. Both get the same \
            strokes, in turn, in rooms without a gate; authors and students subscribe to what they would. Figures are \
            medians of the rounds, with the least and the largest; the ratio is that of the medians. CPU is that of \
            the daemon or relay alone. NATS server and load share the machine's cores with them. Goals: 0.8 of the relay's \
            rate or more, for 1.6 times its CPU or less, and 1.7 times with JetStream; 5 µs for a clock sample.

            EXAMPLES
              lectern-bench relay --journal none                    # as fast as it goes
              lectern-bench relay --journal jetstream --rate 1000   # at a steady rate, with the latency from published to released
              lectern-bench relay --clocks 5000                     # video clocks, four samples a second for each room
            """)

    @Option(help: "Journal of the daemon: none or jetstream.")
    var journal = Journal.none

    @Option(help: "Number of rooms, with one author each.")
    var rooms = 64

    @Option(help: "Operations a second, all rooms together. Default: as many as get through.")
    var rate: Double?

    @Option(
        help:
            "Number of rooms whose video clocks are sent instead of operations, with a stroke every ten seconds. Default: none."
    )
    var clocks: Int?

    @Option(help: "Seconds of each round, above 0.")
    var seconds = 3.0

    @Option(help: "Rounds of each measurement, 1 or more.")
    var rounds = 5

    @OptionGroup var lesson: LessonInput

    @OptionGroup var service: ServiceInput

    @OptionGroup var output: OutputForm

    enum Journal: String, ExpressibleByArgument, CaseIterable {
        case none, jetstream
    }

    func validate() throws {
        guard rooms > 0, rounds > 0, seconds > 0, rate ?? 1 > 0, clocks ?? 1 > 0 else {
            throw ValidationError("all numbers are above 0")
        }
    }

    func run() async throws {
        let lesson = try self.lesson.load()
        var report = BenchReport(json: output.json)
        try await EmbeddedServer.with { server, directory in
            try await measure(lesson, server, directory, &report)
        }
        report.print()
    }

    private func measure(
        _ lesson: Lesson, _ server: EmbeddedServer, _ directory: URL, _ report: inout BenchReport
    ) async throws {
        let service = try RelayProcess.service(
            service.program, url: server.url, root: "service", journal: journal.rawValue, isGated: clocks != nil,
            in: directory)
        defer { service.end() }
        if let clocks {
            let load = try await ClockLoad(lesson, url: server.url, root: "service", rooms: clocks)
            let measured = try await load.measure(
                service, server: server.processIdentifier, rounds: rounds, seconds: seconds)
            report.add(measured, rooms: clocks)
            return await load.close()
        }
        let loads = [
            try await OperationLoad(
                lesson, url: server.url, root: "relay", rooms: rooms, stream: journal == .none ? nil : "RELAY_LOG_0"),
            try await OperationLoad(lesson, url: server.url, root: "service", rooms: rooms, stream: nil),
        ]
        let relay = try RelayProcess.relay(
            url: server.url, root: "relay", stream: journal == .none ? nil : "RELAY_LOG_0", in: directory)
        defer { relay.end() }
        let processes = [relay, service]
        for (load, process) in zip(loads, processes) { try await load.warmUp(process) }
        var rounds = [[RelayRound]](repeating: [], count: 2)
        for round in 1...self.rounds {
            for kind in 0..<2 {
                Progress.say("round \(round) of \(self.rounds): \(kind == 0 ? "relay" : "service")")
                rounds[kind].append(
                    try await loads[kind].measure(
                        processes[kind], server: server.processIdentifier, seconds: seconds, rate: rate))
            }
        }
        for load in loads { await load.close() }
        report.add("relay", rounds[0], rate: rate)
        report.add("service", rounds[1], rate: rate)
        report.addRatios(of: rounds[1], to: rounds[0], rate: rate, mostProcessor: journal == .none ? 1.6 : 1.7)
    }
}

/// What one round of one process came to.
struct RelayRound {
    /// Operations that came back, a second.
    var operations: Double
    /// Processor time of the process for an operation, in microseconds.
    var processor: Double
    /// The same of the NATS server.
    var server: Double
    /// From published to released, in milliseconds; sorted.
    var latencies: [Double]
}

extension BenchReport {
    fileprivate mutating func add(_ name: String, _ rounds: [RelayRound], rate: Double?) {
        if rate == nil { add("\(name): operations a second", rounds.map(\.operations)) }
        add("\(name): CPU of an operation, µs", rounds.map(\.processor))
        add("\(name): CPU of the NATS server for it, µs", rounds.map(\.server))
        guard rate != nil else { return }
        for (label, fraction) in [("p50", 0.5), ("p99", 0.99)] {
            add("\(name): from published to released, \(label), ms", rounds.map { $0.latencies.percentile(fraction) })
        }
    }

    fileprivate mutating func add(_ rounds: [ClockRound], rooms: Int) {
        add("rooms", Double(rooms))
        add("clock samples a second", median(rounds.map(\.samples)))
        add("CPU, % of a core", rounds.map { $0.processor * 100 })
        add("CPU of a sample, µs", rounds.map { $0.processor / $0.samples * 1e6 }, atMost: 5)
        add("released a round", median(rounds.map { Double($0.lateness.count) }))
        add("lateness p50, ms", rounds.map { $0.lateness.percentile(0.5) })
        add("lateness p99, ms", rounds.map { $0.lateness.percentile(0.99) })
    }

    /// Goals are for as many operations as get through.
    fileprivate mutating func addRatios(
        of service: [RelayRound], to relay: [RelayRound], rate: Double?, mostProcessor: Double
    ) {
        func ratio(
            _ name: String, atMost most: Double? = nil, atLeast least: Double? = nil, _ value: (RelayRound) -> Double
        ) {
            add(
                "service to relay: \(name)", median(service.map(value)) / median(relay.map(value)), atMost: most,
                atLeast: least)
        }
        if rate == nil { ratio("operations a second", atLeast: 0.8, \.operations) }
        ratio("CPU of an operation", atMost: rate == nil ? mostProcessor : nil, \.processor)
        guard rate != nil else { return }
        ratio("p50") { $0.latencies.percentile(0.5) }
        ratio("p99") { $0.latencies.percentile(0.99) }
    }
}
