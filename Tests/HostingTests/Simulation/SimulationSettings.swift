import TestSupport

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
