import TestSupport
import Testing

/// Plays schools whose daemons, streams and networks fail, in virtual time; one seed makes one history. The product's
/// part is `RoomHost` and `Membership`, everything around them is simulated. The files, in the order of the flow:
///
/// 1. `Schedule`: what the seed chooses (`Plan`), who takes part, which faults strike and when.
/// 2. `World`: virtual time, random choices, the events to come, the trace.
/// 3. `Teacher`: the video's encoder, and an author who writes and sends until the log acknowledges.
/// 4. `SimulatedStreams`, `SimulatedCheckpoints`: the log and the checkpoints of a partition as JetStream keeps them, and the
///    log's reader; `Repartition` moves them to another number of partitions.
/// 5. `DaemonProcess`, `PartitionWork`: the real host and membership in a process that can crash, stop, or be cut off.
/// 6. `ProcessOutput`, `SimulatedKeeper`, `SimulatedRecords`: what the host publishes, appends, saves and loads.
/// 7. `SimulatedNetwork`: core NATS, and the send buffer of a process.
/// 8. `Student`: the video as a cohort sees it, and a student who follows the board.
/// 9. `Ledger`: records what daemons publish, and checks each message as it comes.
/// 10. `ModelRoom`: the rules as they read, apart from the product: what has to come out of a log.
/// 11. `ModelClock`: the same for clocks: how far a video may be believed to be.
/// 12. `Pen`, `WetLedger`: strokes that are being drawn, and what of them daemons may publish.
/// 13. `Verdict`: compares product and models when everything is at rest.
@Suite struct SimulationTests {
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
        #expect((1...600).contains { !Schedule(seed: $0, fault: fault).run().isEmpty })
    }
}

/// Which schedules to run: `LECTERN_SEED` replays one and prints its trace, `LECTERN_SCHEDULES` is the number of random
/// ones.
struct SimulationSettings {
    let seeds: [UInt64]
    let isReplay = TestSeed.given != nil
    let workers = 2

    private static let usual: UInt64 = 25
    private static let most: UInt64 = 10_000_000

    init() {
        let count = EnvironmentVariable("LECTERN_SCHEDULES").number ?? Self.usual
        seeds = TestSeed.choose(Int(min(count, Self.most)))
    }
}
