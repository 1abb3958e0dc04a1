#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which schedules are to run: `LECTERN_SEED` replays one and tells what happens in it, `LECTERN_SCHEDULES` says how
/// many others, from a seed of today's on.
struct SimulationSettings {
    let seeds: [UInt64]
    let isReplay: Bool
    let workers = 2

    private static let usual = 100

    init() {
        if let seed = Self.number("LECTERN_SEED") {
            seeds = [seed]
            isReplay = true
        } else {
            let count = Self.number("LECTERN_SCHEDULES") ?? UInt64(Self.usual)
            let first = UInt64.random(in: 0..<1_000_000_000)
            seeds = Array(first..<first + min(count, 10_000_000))
            isReplay = false
            print("simulating \(count) schedules from seed \(first) on")
        }
    }

    /// A number from the environment; an empty one is none.
    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
}
