import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Two daemons on one partition.
@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct OwnerTests {
    @Test
    func `a suspended owner that resumes disturbs nobody, and daemons that all shut down do not wait for each other`()
        async throws
    {
        let plan = Lesson.Plan()
        try await Lesson.hold(plan) { nats, lesson in
            let pair = try DaemonPair(nats.url, lesson)
            for _ in 1...rounds(1) {
                let owner = try await pair.owner()
                try await lesson.goesOn()
                owner.pause()
                // Suspended until the other daemon has taken over, or much longer.
                if isThorough { try await Task.sleep(for: .seconds(30)) }
                try await eventually(
                    "the other one serves", is: pair.monitor.servers().contains(pair.other(than: owner).name))
                try await lesson.goesOn()
                owner.resume()
                try await lesson.goesOn()
            }
            // The partition goes back to its owner.
            _ = try await pair.owner()
            let before = pair.daemons
            for daemon in before { daemon.terminateSoon() }
            for daemon in before { #expect(await daemon.exitCode() == 0, "\(daemon.log)") }
            for daemon in before { try pair.replace(daemon) }
            try await lesson.goesOn()
        }
    }

    @Test func `two daemons that are killed, suspended and restarted at any time disturb nobody`() async throws {
        let plan = Lesson.Plan()
        try await Lesson.hold(plan) { nats, lesson in
            var random = SeededGenerator(seed: plan.seed)
            // Frequent checkpoints, so that one is often under way.
            let pair = try DaemonPair(nats.url, lesson, ["checkpoint.interval=1s", "checkpoint.operations=7"])
            for _ in 1...rounds(3) {
                try await Task.sleep(for: .milliseconds(random.int(0...2000)))
                let daemon = pair.daemons[random.int(0...1)]
                switch random.int(0...2) {
                case 0:
                    daemon.pause()
                    try await Task.sleep(for: .milliseconds(random.int(50...3600)))
                    daemon.resume()
                case 1:
                    await daemon.kill()
                    try pair.replace(daemon)
                default:
                    // The new one starts while the old one hands over and saves.
                    daemon.terminateSoon()
                    try pair.replace(daemon)
                }
            }
            try await lesson.goesOn()
        }
    }

    @Test func `two daemons that serve the same partition release the same, also to new students`() async throws {
        let plan = Lesson.Plan()
        let verdict = try await Lesson.hold(plan) { nats, lesson in
            // With the same name, each takes itself for the only one.
            let twins = [try DaemonProcess("twin", nats: nats.url), try DaemonProcess("twin", nats: nats.url)]
            for twin in twins {
                try await twin.waitUntilServing()
                try await twin.waitForLog("another daemon has this one's name")
            }
            for _ in 1...rounds(1) {
                try await lesson.goesOn()
                try await lesson.welcomeNewcomer()
            }
        }
        let repeats = verdict.repeats(of: verdict.observers[0])
        #expect(repeats > 0, "both release")
    }

    @Test func `an orderly end hands the rooms over within a second, and a kill within four`() async throws {
        var plan = Lesson.Plan(isPlain: true)
        plan.pace = .milliseconds(20)
        let ends = Locked<[UInt64]>([])
        let verdict = try await Lesson.hold(plan) { nats, lesson in
            let pair = try DaemonPair(nats.url, lesson)
            func goOn() async throws {
                try await lesson.goesOn()
                ends.withLock { $0.append(lesson.observers[0].index) }
            }
            // At first the daemon that started first may own the partition for a moment.
            _ = try await pair.owner()
            try await goOn()
            for _ in 1...rounds(1) {
                let owner = try await pair.owner()
                #expect(await owner.terminate() == 0, "\(owner.log)")
                try await lesson.goesOn()
                try pair.replace(owner)
                _ = try await pair.owner()
                try await lesson.goesOn()
            }
            try await goOn()
            for _ in 1...rounds(1) {
                let owner = try await pair.owner()
                await owner.kill()
                try await lesson.goesOn()
                try pair.replace(owner)
                _ = try await pair.owner()
            }
            try await goOn()
        }
        let (start, handedOver) = ends.withLock { ($0[0], $0[1]) }
        let pauses = [
            verdict.longestPause(of: verdict.observers[0], among: start + 1...handedOver),
            verdict.longestPause(of: verdict.observers[0], among: handedOver + 1...UInt64.max),
        ]
        print("longest pauses of release: hand-over \(pauses[0]), takeover \(pauses[1])")
        #expect(pauses[0] < .seconds(1) && pauses[1] < .seconds(4))
    }
}
