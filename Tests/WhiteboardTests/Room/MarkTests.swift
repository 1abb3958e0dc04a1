import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite("Marks")
struct MarkTests {
    private var probe = RoomProbe()

    @Test("None before the first release; then every second for 30 s after the last release, then every 10 s")
    mutating func rhythm() {
        probe.wait(.seconds(60))
        #expect(probe.marks.isEmpty)
        probe.clock(1000)
        let start = probe.now
        probe.send(draw(1))
        probe.wait(.seconds(60))
        let seconds = probe.marks.map { ($0.at - start).components.seconds }
        #expect(seconds == Array(1...30) + [40, 50, 60])
        probe.send(draw(2))
        probe.clock(100_000, .main, #","d":true"#)
        probe.wait(.seconds(1))
        #expect(probe.marks.count == seconds.count + 1)
    }

    @Test("Say room, index, digest and video time of the cohort, not of the head")
    mutating func content() throws {
        probe.clock(1000)
        probe.send(draw(1, #","t":900"#))
        probe.send(draw(2, #","t":9000"#))
        probe.wait(.seconds(1))
        let mark = try #require(probe.marks.last).mark
        #expect(
            mark
                == Mark(
                    room: "life", index: 1, digest: BoardDigest(value: plainDigest([1])),
                    video: MediaTime(milliseconds: Int64(2000))))
    }

    @Test("The video time is unknown where no sample came")
    mutating func unknownVideo() throws {
        probe = RoomProbe(
            RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none))))
        probe.send(draw(1))
        probe.wait(.seconds(1))
        #expect(try #require(probe.marks.last).mark.video == nil)
    }

    @Test("While nothing can be published no mark is said and no cursor moves")
    mutating func closedOutput() {
        probe.clock(1000)
        probe.setOutput(isOpen: false)
        probe.send(draw(1))
        probe.wait(.seconds(5))
        #expect(probe.marks.isEmpty)
        #expect(probe.shown() == [])
        #expect(probe.applied.count == 1)
        probe.setOutput(isOpen: true)
        #expect(probe.shown() == [1])
        probe.wait(.seconds(1))
        #expect(probe.marks.count == 1)
    }
}
