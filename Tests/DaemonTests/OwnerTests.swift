import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Two daemons on one partition.
@Suite(.timeLimit(.minutes(60)), .endsProcesses) struct OwnerTests {
    @Test func `an owner that stood still and wakes up again confuses nobody`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        // Beyond the 3 s after which a daemon counts as gone.
        let standstill = Duration.seconds(isThorough ? 30 : 5)
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let pair = try Pair(nats.url, lesson)
                for _ in 1...rounds(1) {
                    let owner = try await pair.owner()
                    try await lesson.goesOn()
                    owner.pause()
                    try await Task.sleep(for: standstill)
                    try await eventually("the other one serves") {
                        pair.roster.servers().contains(pair.other(than: owner).name) ? () : nil
                    }
                    try await lesson.goesOn()
                    owner.resume()
                    try await lesson.goesOn()
                }
                // The partition goes back to whose it is.
                _ = try await pair.owner()
            }
            verdict.expect()
        }
    }

    @Test func `two daemons that end, stand still and come back at any time confuse nobody`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                var random = SeededGenerator(seed: plan.seed)
                // Often saved, so that there is something half done at any time.
                let pair = try Pair(nats.url, lesson, ["checkpoint.interval=1s", "checkpoint.operations=7"])
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
                        // The new one begins while the old one hands over and saves.
                        daemon.terminateSoon()
                        try pair.replace(daemon)
                    }
                }
                try await lesson.goesOn()
            }
            verdict.expect()
        }
    }

    @Test func `two daemons that both work on a partition give out the same, to newcomers too`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                // Of the same name, each takes itself for the only one.
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
            verdict.expect()
            let repeats = verdict.repeats(of: verdict.witnesses[0])
            #expect(repeats > 0, "both have released")
        }
    }

    @Test func `an orderly end hands the rooms over without a pause`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.isPlain = true
        plan.pace = .milliseconds(20)
        let begun = Locked<UInt64>(0)
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let pair = try Pair(nats.url, lesson)
                _ = try await pair.owner()
                try await lesson.goesOn()
                begun.withLock { $0 = lesson.witnesses[0].index }
                for _ in 1...rounds(1) {
                    let owner = try await pair.owner()
                    #expect(await owner.terminate() == 0, "\(owner.log)")
                    try await lesson.goesOn()
                    try pair.replace(owner)
                    _ = try await pair.owner()
                    try await lesson.goesOn()
                }
            }
            verdict.expect()
            let longest = verdict.longestPause(of: verdict.witnesses[0], after: begun.withLock { $0 })
            print("hand-over: longest pause of release \(longest)")
            #expect(longest < .seconds(1))
        }
    }

    @Test func `daemons that are all told to end do not wait for each other`() async throws {
        let plan = Lesson.Plan(seed: TestSeed.choose())
        try await NATSTestServer.with(jetStream: true) { nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let pair = try Pair(nats.url, lesson)
                _ = try await pair.owner()
                try await lesson.goesOn()
                let before = pair.daemons
                for daemon in before { daemon.terminateSoon() }
                for daemon in before { #expect(await daemon.exitCode(within: .seconds(5)) == 0, "\(daemon.log)") }
                for daemon in before { try pair.replace(daemon) }
                try await lesson.goesOn()
            }
            verdict.expect()
        }
    }

    @Test func `after a kill the other daemon releases within six seconds`() async throws {
        var plan = Lesson.Plan(seed: TestSeed.choose())
        plan.isPlain = true
        let begun = Locked<UInt64>(0)
        try await NATSTestServer.with(jetStream: true) { [plan] nats in
            let verdict = try await Lesson.hold(plan, on: nats.url) { lesson in
                let pair = try Pair(nats.url, lesson)
                for _ in 1...rounds(1) {
                    let owner = try await pair.owner()
                    try await lesson.goesOn()
                    begun.withLock { $0 = $0 == 0 ? lesson.witnesses[0].index : $0 }
                    await owner.kill()
                    try await lesson.goesOn()
                    try pair.replace(owner)
                }
            }
            verdict.expect()
            let longest = verdict.longestPause(of: verdict.witnesses[0], after: begun.withLock { $0 })
            print("takeover: longest pause of release \(longest)")
            #expect(longest < .seconds(6))
        }
    }
}
