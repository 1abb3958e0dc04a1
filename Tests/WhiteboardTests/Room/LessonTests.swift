import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite("Real lessons", .needsRecordedLessons)
struct LessonTests {
    @Test(
        "A lesson leaves as many strokes on its last board as its author left",
        arguments: [(RecordedLesson.cursiveShort, 65, 58), (.cursiveLong, 1147, 171), (.pencil, 28, 14)])
    func strokes(_ lesson: RecordedLesson, _ drawn: Int, _ left: Int) throws {
        let probe = try played(lesson)
        #expect(probe.counts.intake.rejected.isEmpty)
        #expect(probe.counts.draws == drawn)
        #expect(probe.visible.count == left)
        #expect(probe.room.head.digest.value == plainDigest(probe.visible))
        #expect(probe.shown() == probe.applied.map(\.index))
    }

    @Test("A lesson whose messages come shuffled and repeated within a second leaves the same board")
    func shuffled() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let straight = try played(.cursiveShort)
        let lines = try RecordedLesson.cursiveShort.messages()
        var probe = RoomProbe()
        probe.clock(0)
        probe.send(lines[0])
        var rest = (lines.dropFirst() + lines.prefix(40)).enumerated().map {
            ($0.offset + random.int(0...8), $0.element)
        }
        rest.sort { $0.0 < $1.0 }
        for (_, line) in rest {
            probe.wait(.milliseconds(50))
            probe.send(line)
        }
        #expect(probe.room.head.digest == straight.room.head.digest, "seed \(seed)")
        #expect(probe.applied.map(\.restoredMessage) == straight.applied.map(\.restoredMessage), "seed \(seed)")
    }

    /// The lesson at a hundred messages a second, with a clock that has seen all of it.
    private func played(_ lesson: RecordedLesson) throws -> RoomProbe {
        var probe = try RoomProbe(hearing: lesson)
        probe.clock(1e7, .main, #","d":true"#)
        probe.wait(.seconds(60))
        return probe
    }
}
