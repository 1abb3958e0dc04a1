import StrokeWire
import Testing
import Whiteboard

/// Rule 8: counters that begin again at 0.
@Suite("Wrap")
struct WrapTests {
    @Test("19: a counter that wraps at 32 bits goes on")
    func wrap() throws {
        let period = Double(1 << 32)
        var room = VirtualRoom()
        try room.sample(period - 100, b: 32)
        room.log(1 << 32 + 20)
        room.wait(.milliseconds(110))
        #expect(room.shown() == [])
        #expect(try room.sample(50, b: 32) == .taken)
        #expect(room.video() == period + 50)
        #expect(room.shown() == [1])
        #expect(try room.sample(period - 100, b: 32) == .taken)
        #expect(room.video() == period - 100)
    }

    @Test("The first reading of a counter is taken near the head operation, else as it is")
    func wrapWithoutPrediction() throws {
        let period = Int64(1) << 33
        for (times, expected) in [
            ([nil, 5 * period - 300], Double(5 * period - 400)), ([-50], -400), ([nil], Double(period - 400)),
            ([], Double(period - 400)),
        ] as [([Int64?], Double)] {
            var room = VirtualRoom()
            for time in times { room.log(time) }
            try room.sample(Double(period - 400), b: 33)
            #expect(room.video() == expected)
        }
    }
}
