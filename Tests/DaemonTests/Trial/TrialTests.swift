// A cluster of built programs on hosts between which doors delay and cut what goes from one to another. A plan says
// which fault strikes when; at the end the verdict compares what every client saw with models of the rooms, made from
// the journal.

import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// A cluster with everything that goes wrong in one: three NATS servers, three daemons, two gateways, and classes on
/// them.
@Suite(.serialized, .timeLimit(.minutes(60)), .endsProcesses) struct TrialTests {
    @Test(
        "a cluster under delay, losses, partitions and kills shows everybody everything, once, in order, in time",
        .enabled(if: TrialPlan.isAsked, "make cluster-trial runs it"))
    func full() async throws {
        try await Trial(TrialPlan.full(seed: TestSeed.choose())).run()
    }

    @Test(.disabled(if: TrialPlan.isAsked, "the full one runs"))
    func `a small cluster under delay and kills shows everybody everything, once, in order, in time`() async throws {
        try await Trial(TrialPlan.small(seed: TestSeed.choose())).run()
    }
}

private struct Trial {
    let plan: TrialPlan
    private let begin = ContinuousClock.now

    init(_ plan: TrialPlan) {
        self.plan = plan
    }

    func run() async throws {
        raiseFileLimit()
        let network = try await TrialNetwork(isIsolated: plan.isFull, seed: plan.seed)
        let cluster = try TrialCluster(network, partitions: plan.partitions)
        say("\(plan.rooms) rooms, \(plan.readers) readers, \(try cluster.natsVersion())")
        var settings = NATSSettings(url: cluster.url(), name: "trial")
        settings.reconnectWait = .milliseconds(20) ... .milliseconds(100)
        let connection = NATSConnection(settings, logger: .silent)
        do { try await connection.connect(within: .seconds(1), keepTrying: true) } catch {}
        let members = try MemberMonitor(connection)
        try await cluster.startAll(connection, members)
        say("the cluster serves")

        let meter = TrialMeter(of: cluster)
        let moments = Locked<[TrialMoment]>([])
        let models = Locked<[String: ModelRoom]>([:])
        let usage = Locked<[String: TrialMeter.Usage]>([:])
        let boardFaults = Locked<[String]>([])
        let rooms = try await TrialClass(plan, on: cluster)
        do {
            try await rooms.hold {
                try await rooms.waitUntilUnderWay()
                say("all classes are under way")
                let watch = Task { await meter.watch() }
                defer { watch.cancel() }
                var random = SeededGenerator(seed: plan.seed ^ 2)
                let before = meter.usage
                for phase in plan.phases {
                    let moment = try await disturb(phase, cluster, members, &random)
                    moments.withLock { $0.append(moment) }
                }
                meter.sample()
                usage.withLock { $0 = meter.usage.since(before) }
            } afterwards: { settled in
                say("everybody has everything")
                models.withLock { $0 = settled }
                let boards = TrialBoards(rooms: rooms, cluster: cluster, models: settled)
                let first = await boards.compare()
                say("compared the boards of all rooms")
                try await cluster.restart(plan.restarted, connection, members)
                let second = await boards.compare(with: first.incarnations)
                say("compared them again after a restart of \(plan.restarted.map(\.rawValue).joined(separator: ", "))")
                boardFaults.withLock { $0 = first.faults + second.faults.map { "after the restart: \($0)" } }
                if !plan.powerCuts.isEmpty { rooms.stopAudience() }
                for kinds in plan.powerCuts {
                    let faults = try await cutPower(kinds, boards, second.incarnations, cluster, connection, members)
                    boardFaults.withLock { $0 += faults.map { "after the power cut: \($0)" } }
                }
                if !plan.powerCuts.isEmpty { try await rooms.goOn(after: settled) }
            }
        } catch {
            for part in TrialCluster.parts { print("\n\(part):\n\(cluster.log(of: part).suffix(3000))") }
            throw error
        }
        judge(
            rooms, models.withLock { $0 }, moments.withLock { $0 }, boardFaults.withLock { $0 }, usage.withLock { $0 })
        await rooms.close()
        await connection.close()
    }

    /// Lets processes lose power, and compares the boards of all rooms once more.
    private func cutPower(
        _ kinds: [TrialPart.Kind], _ boards: TrialBoards, _ before: [String: String], _ cluster: TrialCluster,
        _ connection: NATSConnection, _ members: MemberMonitor
    ) async throws -> [String] {
        try await boards.rooms.waitUntilCovered()
        var random = SeededGenerator(seed: plan.seed ^ 3 &+ UInt64(kinds.count))
        let time = try await cluster.losePower(kinds, &random, connection, members)
        let after = await boards.compare()
        let restored = after.incarnations.count { $1 != before[$0] }
        say(
            """
            compared them again after a power cut of \(kinds.map(\.rawValue).joined(separator: ", ")): \
            \(restored) rooms in new incarnations, \(time.formatted(.units(allowed: [.seconds]))) after the start
            """)
        return after.faults + (restored > 0 ? [] : ["no room was restored"])
    }

    /// Does what a phase is about, and undoes it.
    private func disturb(
        _ phase: TrialPhase, _ cluster: TrialCluster, _ members: MemberMonitor, _ random: inout SeededGenerator
    ) async throws -> TrialMoment {
        let network = cluster.network
        let begin = ContinuousClock.now
        var event: ContinuousClock.Instant?
        var partitions: Set<Int> = []
        var what = ""
        let node = random.int(1...3)
        switch phase {
        case .quiet: break
        case .delay:
            what = try network.delay(upTo: plan.delay, &random)
            try await Task.sleep(for: plan.share * 0.8)
            try network.endDelay()
        case .loss:
            what = "\(plan.loss * 100) % of all packets"
            try network.lose(plan.loss)
            try await Task.sleep(for: plan.share * 0.8)
            try network.heal()
        case .partition:
            what = "node \(node)"
            try network.isolate(network.nodes[node - 1])
            try await Task.sleep(for: plan.share * 0.4)
            event = .now
            try network.heal()
        case .daemon, .server, .gateway:
            let kind: TrialPart.Kind = phase == .daemon ? .daemon : phase == .server ? .nats : .gateway
            let part = TrialPart(kind: kind, node: kind == .gateway ? random.pick(TrialCluster.gatewayNodes) : node)
            what = "\(part)"
            if phase == .daemon {
                partitions = Set((0..<plan.partitions).filter { members.servers(of: $0) == ["daemon\(node)"] })
            }
            event = .now
            await cluster.kill(part)
            try await Task.sleep(for: plan.share * 0.5)
            try cluster.start(part)
        }
        let rest = ContinuousClock.now.duration(to: begin + plan.share)
        if rest > .zero { try await Task.sleep(for: rest) }
        try await cluster.waitUntilServing(members)
        say("\(phase.rawValue) \(what)")
        return TrialMoment(phase: phase, begin: begin, end: .now, event: event, partitions: partitions, what: what)
    }

    private func judge(
        _ rooms: TrialClass, _ models: [String: ModelRoom], _ moments: [TrialMoment], _ boardFaults: [String],
        _ usage: [String: TrialMeter.Usage]
    ) {
        let verdict = TrialVerdict(rooms, models)
        let faults = verdict.faults + boardFaults
        let operations = models.values.reduce(0) { $0 + $1.operations.count }
        let rejected = models.values.reduce(0) { sum, model in
            sum + model.outcomes.values.reduce(0) { $0 + $1.values.count { $0 == .rejected } }
        }
        let givenUp = models.values.reduce(0) { $0 + $1.giveUps.count }
        let messages = rooms.rooms.reduce(0) { $0 + $1.teacher.progress.acknowledged }
        let connections = rooms.readers.reduce(0) { $0 + $1.connections }
        let joins = rooms.rooms.reduce(0) { $0 + $1.students.reduce(0) { $0 + $1.joins } }
        say(
            """
            \(operations) operations, \(rejected) rejected, \(givenUp) given up, of \(messages) messages; \
            \(verdict.repeats) repeats, \(verdict.late) released late by a policy; \(joins) joins, \
            \(connections) event streams of \(rooms.readers.count) readers, \(verdict.boardsAnew) boards anew
            """)
        let table = TrialTable(rooms, models, moments)
        print("")
        for row in table.rows { print(row) }
        print("")
        for line in table.recoveries { print(line) }
        guard let begin = moments.first?.begin, let end = moments.last?.end else { return }
        let seconds = begin.duration(to: end) / .seconds(1)
        print("\n| process | processor, % of a core | memory, MiB |\n|---|---|---|")
        for (name, usage) in usage.sorted(by: { $0.key < $1.key }) {
            print("| \(name) | \(Int(usage.processor / seconds * 100)) | \(usage.memory >> 20) |")
        }
        print("")
        for fault in faults.prefix(40) { say("fault: \(fault)") }
        #expect(faults.count == 0, "\(faults.prefix(10))")
    }

    private func say(_ line: String) {
        print("trial, \(begin.duration(to: .now).components.seconds) s: \(line)")
    }

    /// A few sockets each for hundreds of readers.
    private func raiseFileLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension [String: TrialMeter.Usage] {
    /// What was used after another reading.
    fileprivate func since(_ before: [String: TrialMeter.Usage]) -> [String: TrialMeter.Usage] {
        reduce(into: [:]) { result, entry in
            result[entry.key] = TrialMeter.Usage(
                processor: entry.value.processor - (before[entry.key]?.processor ?? 0), memory: entry.value.memory)
        }
    }
}
