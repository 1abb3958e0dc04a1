import TestSupport
import Testing

@Suite struct SimulationTests {
    /// What a schedule's processes, teachers and students have gone through must not show.
    @Test func `whatever befalls daemons, streams and networks, every class has its whiteboard`() async {
        let settings = SimulationSettings()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<settings.workers {
                group.addTask {
                    for seed in settings.seeds where Int(seed % UInt64(settings.workers)) == worker {
                        for finding in Schedule(seed: seed, isTraced: settings.isReplay).run().prefix(3) {
                            Issue.record("make simulate SEED=\(seed): \(finding)")
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `daemons that do one thing wrong are found out`(fault: Fault) {
        #expect((1...60).contains { !Schedule(seed: $0, fault: fault).run().isEmpty })
    }
}

/// Which schedules are to run: `LECTERN_SEED` replays one and tells what happens in it, `LECTERN_SCHEDULES` says how
/// many others.
struct SimulationSettings {
    let seeds: [UInt64]
    let isReplay = TestSeed.given != nil
    let workers = 2

    private static let usual: UInt64 = 100
    private static let most: UInt64 = 10_000_000

    init() {
        let count = EnvironmentVariable("LECTERN_SCHEDULES").number ?? Self.usual
        seeds = TestSeed.choose(Int(min(count, Self.most)))
    }
}
