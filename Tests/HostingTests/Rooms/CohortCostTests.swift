import Hosting
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct CohortCostTests {
    @Test func `an input that releases nothing costs the same whatever the number of cohorts`() throws {
        let few = try cost(cohorts: 4)
        let many = try cost(cohorts: 1024)
        #expect(many < few * 8, "\(few) with 4 cohorts, \(many) with 1,024")
    }

    /// The time that repeats, operations that are held and clock samples take in a room whose cohorts hold something.
    private func cost(cohorts count: Int) throws -> Duration {
        let names = try (1...count).map { try #require(CohortName("c\($0)")) }
        let held = CohortSettings(policy: .hold)
        let probe = HostProbe(
            cohorts: CohortsConfiguration(
                defaults: held, named: Dictionary(uniqueKeysWithValues: names.map { ($0, held) }), open: false))
        for name in names + [.main] { probe.sample(#"{"m":1000}"#, cohort: name) }
        func draw(_ number: Int) { probe.send(#"{"n":\#(number),"t":50000,"d":[{"x":1,"y":1}]}"#) }
        draw(1)
        probe.wait(.seconds(1))
        probe.acknowledge()
        var next = 2
        return leastProcessorTime {
            for turn in 0..<30 {
                draw(next)
                draw(next)
                probe.sample(#"{"m":1000}"#, cohort: names[turn % count])
                next += 1
            }
        }
    }
}
