import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct KillTests {
    @Test func `a daemon killed again and again in the middle of a lesson loses and repeats nothing`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { _ in
                var random = SeededGenerator(seed: plan.seed)
                var daemon = try DaemonProcess("a0", nats: nats.url)
                for round in 1...rounds(2) {
                    try await Task.sleep(for: .milliseconds(random.int(100...2500)))
                    await daemon.kill()
                    daemon = try DaemonProcess("a\(round)", nats: nats.url)
                }
                try await daemon.waitUntilServing()
            }
            verdict.expect()
        }
    }

    @Test func `a NATS server killed and started again on its store loses nothing that it acknowledged`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { _ in
                var random = SeededGenerator(seed: plan.seed)
                var daemon = try DaemonProcess("a0", nats: nats.url)
                try await daemon.waitUntilServing()
                for round in 1...rounds(2) {
                    try await Task.sleep(for: .milliseconds(random.int(500...2500)))
                    await nats.kill()
                    // Every other time the daemon is killed, too.
                    if round.isMultiple(of: 2) {
                        await daemon.kill()
                        daemon = try DaemonProcess("a\(round)", nats: nats.url)
                    }
                    try await Task.sleep(for: .milliseconds(random.int(0...800)))
                    try await nats.restart()
                }
                try await daemon.waitUntilServing()
            }
            verdict.expect()
        }
    }
}

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct ClusterTests {
    @Test func `a journal with three replicas survives the loss of its leader`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.mayLose = true
        try await NATSTestServer.withCluster(of: 3) { [plan] servers in
            let url = servers.map(\.url).joined(separator: ",")
            let verdict = try await Lesson.hold(plan, on: url) { lesson in
                let daemon = try DaemonProcess("a", nats: url, ["journal.replicas=3"])
                try await daemon.waitUntilServing()
                for _ in 1...rounds(1) {
                    try await lesson.goesOn()
                    let leader = try await eventually("the journal has a leader") {
                        try await lesson.connection.streamState("INK_LOG_0").cluster?.leader
                    }
                    let number = try #require(Int(leader.dropFirst("node".count)))
                    await servers[number].kill()
                    try await lesson.goesOn()
                    try await servers[number].restart()
                    try await lesson.goesOn()
                }
            }
            verdict.expect()
        }
    }
}
