import TestSupport
import Testing

/// A power cut takes the end of a log, that of its checkpoints, or both, at random, while a daemon lives, after it was killed,
/// and while it repairs what an earlier one took.
@Suite struct `A partition whose servers lose power` {
    @Test func `has all that its daemon, its checkpoints or its log still had, once`() {
        for seed in TestSeed.choose(150) {
            let findings = PowerCutHistory(seed: seed).run()
            #expect(findings.isEmpty, "seed \(seed)")
        }
    }

    /// A repair's decision about one room is lost again after other rooms were saved behind it.
    @Test func `has all where a repair is cut while other rooms go on`() {
        #expect(PowerCutHistory(seed: 600_103_446).run() == [])
    }

    @Test(arguments: PowerCutHistory.Fault.allCases)
    func `is found to lack something, or to have it twice, where it is repaired wrongly`(
        fault: PowerCutHistory.Fault
    ) {
        #expect(TestSeed.choose(100).contains { !PowerCutHistory(seed: $0, fault: fault).run().isEmpty })
    }
}
