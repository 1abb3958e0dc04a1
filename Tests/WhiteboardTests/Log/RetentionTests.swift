import StrokeWire
import Testing

@testable import Whiteboard

@Suite("What a room keeps of its log")
struct RetentionTests {
    /// A room whose cohort sees everything at once.
    private func openRoom(_ log: LogRetention) -> RoomProbe {
        RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)), log: log))
    }

    @Test("A tail of so many released operations, and all that are not released")
    func tail() {
        var probe = RoomProbe(RoomConfiguration(log: LogRetention(tail: 10)))
        for number in Int64(1)...50 { probe.send(draw(number, #","t":\#(number * 10)"#)) }
        #expect(probe.room.log.count == 50)
        probe.clock(205)
        #expect(probe.room.log.firstIndex == 21)
        probe.clock(1000)
        #expect(probe.room.log.count == 10)
        #expect(probe.room.base.index == 40)
        #expect(probe.room.base.visible.count == 40)
    }

    @Test("A tail of no more than so many bytes, whatever its operations are")
    func tailBytes() {
        var probe = openRoom(LogRetention(tailBytes: 50_000))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        probe.send(draw(1))
        for number in Int64(2)...20 {
            probe.send(number.isMultiple(of: 2) ? undo(number, filler) : redo(number, filler))
        }
        #expect(probe.applied.count == 20)
        #expect(probe.room.log.count == 2)
        #expect(probe.room.log.releasedBytes < 50_000)
        #expect(probe.shown() == Array(1...20))
    }

    @Test("Beyond the bytes that may be held the slowest cohort's oldest operations are released, marked late")
    func heldBytes() throws {
        var probe = RoomProbe(RoomConfiguration(log: LogRetention(heldBytes: 50_000)))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        for number in Int64(1)...5 { probe.send(draw(number, filler)) }
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.allSatisfy { $0.isLate })
        #expect(probe.room.log.heldBytes <= 50_000)
    }

    @Test("A released stroke still gives its message back byte for byte")
    func restores() throws {
        var probe = openRoom(LogRetention())
        let text = #"{"n":1, "t":5,"d":[{"x":1.50,"y":2,"q":7}]}"#
        probe.send(text)
        let catchUp = try #require(probe.room.catchUp(JoinRequest(incarnation: "life", have: 0), cohort: .main))
        guard case .tail(let tail) = catchUp.content else {
            Issue.record("no tail")
            return
        }
        #expect(tail.map(\.restoredMessage) == [Array(text.utf8)])
        #expect(probe.shown.map(\.operation.restoredMessage) == [Array(text.utf8)])
    }
}
