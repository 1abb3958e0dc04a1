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
                    // Now and then both go.
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
