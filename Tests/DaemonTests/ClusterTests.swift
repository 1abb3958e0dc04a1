import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct ClusterTests {
    @Test func `three copies of the journal survive the loss of the server that leads it`() async throws {
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
