import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite("Undo, redo, clear")
struct BoardTests {
    @Test("Draw pushes on the undo stack and empties the redo stack")
    func drawEmptiesRedo() {
        var probe = RoomProbe()
        for text in [draw(1), draw(2), undo(3), draw(4), redo(5)] { probe.send(text) }
        #expect(probe.visible == [1, 4])
        #expect(probe.takeTold().last == "rejected 5 0 nothing-to-redo")
    }

    @Test("Undo moves the newest stroke of the room, whoever drew it; redo moves it back to its place")
    func roomScope() {
        var probe = RoomProbe()
        probe.send(draw(1))
        probe.send(draw(1), by: .bob)
        probe.send(undo(2))
        #expect(probe.visible == [1])
        probe.send(undo(2), by: .bob)
        #expect(probe.visible == [])
        probe.send(redo(3))
        probe.send(redo(3), by: .bob)
        #expect(probe.visible == [1, 2])
        #expect(
            probe.applied.map(\.summary) == [
                "1 alice 1 draw", "2 bob 1 draw", "3 alice 2 undo 2", "4 bob 2 undo 1", "5 alice 3 redo 1",
                "6 bob 3 redo 2",
            ])
    }

    @Test("Undo of nothing changes nothing, gets no index and is rejected")
    func nothingToUndo() {
        var probe = RoomProbe()
        probe.send(undo(1))
        probe.send(redo(2))
        probe.send(draw(3))
        #expect(
            probe.takeTold() == ["rejected 1 0 nothing-to-undo", "rejected 2 0 nothing-to-redo", "applied 3 as 1"])
        #expect(probe.counts.intake.rejected == [.nothingToUndo: 1, .nothingToRedo: 1])
    }

    @Test("Clear empties both stacks and the board, and cannot be undone")
    func finalClear() {
        var probe = RoomProbe()
        for text in [draw(1), draw(2), undo(3), clear(4), undo(5), redo(6)] { probe.send(text) }
        #expect(probe.visible == [])
        #expect(probe.room.head.digest == .empty)
        #expect(probe.takeTold().suffix(2) == ["rejected 5 0 nothing-to-undo", "rejected 6 0 nothing-to-redo"])
    }

    @Test("An undoable clear is undone and done again with all that it took away")
    func undoableClear() {
        var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(clear: .undoable)))
        for text in [draw(1), draw(2), clear(3), undo(4)] { probe.send(text) }
        #expect(probe.visible == [1, 2])
        #expect(probe.applied.last?.reference == 3)
        probe.send(redo(5))
        #expect(probe.visible == [])
        #expect(probe.applied.last?.reference == 3)
    }

    @Test("In the authors' scope an undo takes the author's own newest stroke, a stroke empties only the author's redo")
    func authorScope() {
        var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(scope: .author)))
        probe.send(draw(1))
        probe.send(draw(1), by: .bob)
        probe.send(undo(2))
        #expect(probe.visible == [2])
        probe.send(undo(3))
        #expect(probe.takeTold().last == "rejected 3 0 nothing-to-undo")
        probe.send(draw(2), by: .bob)
        probe.send(redo(4))
        #expect(probe.visible == [1, 2, 4])
        probe.send(clear(3), by: .bob)
        probe.send(undo(5))
        #expect(probe.visible == [])
        #expect(probe.takeTold().last == "rejected 5 0 nothing-to-undo")
    }

    @Test("Strokes below the depth stay on the board and in the digest but can no longer be undone")
    func depth() {
        var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(depth: 2)))
        for text in [draw(1), draw(2), draw(3), undo(4), undo(5), undo(6)] { probe.send(text) }
        #expect(probe.visible == [1])
        #expect(probe.room.head.digest.value == plainDigest([1]))
        #expect(probe.takeTold().last == "rejected 6 0 nothing-to-undo")
    }

    @Test("Points that are seen or can come back are bounded; a clear frees them")
    func boardPoints() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 100)))
        for text in [
            draw(1, points: 60), draw(2, points: 50), undo(3), draw(4, points: 100), clear(5), draw(6, points: 100),
        ] {
            probe.send(text)
        }
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 2 0 too-many-points d", "applied 3 as 2", "rejected 4 0 too-many-points d",
                "applied 5 as 3", "applied 6 as 4",
            ])
    }

    @Test("Dots, and messages full of unknown keys, count for the memory that they occupy")
    func boardMemory() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 1000)))
        for number in Int64(1)...200 { probe.send(draw(number, points: 1)) }
        #expect((50...125).contains(probe.visible.count))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        probe.send(draw(1, points: 1, filler), by: .bob)
        #expect(probe.takeTold(.bob) == ["rejected 1 0 too-many-points d"])
    }
}
