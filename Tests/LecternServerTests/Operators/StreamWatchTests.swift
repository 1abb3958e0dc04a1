import Testing
import Whiteboard

@testable import LecternServer

@Suite struct StreamSuspicionTests {
    private func second(_ number: Double) -> Instant { Instant(nanoseconds: Int64(number * 1e9)) }

    @Test func `streams are gone when every look for 5 s finds them missing`() {
        var suspicion = StreamSuspicion()
        #expect(suspicion.isEmpty)
        for number in [0, 1, 2, 4.9] {
            #expect(suspicion.update([7: second(number)]) == [])
            #expect(!suspicion.isEmpty)
        }
        #expect(suspicion.update([7: second(5)]) == [7])
        #expect(suspicion.isEmpty)
    }

    @Test func `each partition is doubted for 5 s of its own, also while others are gone`() {
        var suspicion = StreamSuspicion()
        _ = suspicion.update([0: second(0)])
        #expect(suspicion.update([0: second(5), 3: second(5.2)]) == [0])
        #expect(suspicion.update([3: second(6)]) == [])
        #expect(suspicion.update([3: second(10.1)]) == [])
        #expect(suspicion.update([3: second(10.2)]) == [3])
    }

    @Test func `a stream that is found once, or cannot be looked for, is doubted from the start again`() {
        var suspicion = StreamSuspicion()
        _ = suspicion.update([3: second(0)])
        #expect(suspicion.update([:]) == [])
        #expect(suspicion.isEmpty)
        #expect(suspicion.update([3: second(5)]) == [])
        #expect(suspicion.update([3: second(10)]) == [3])
    }

    @Test func `one that was gone and came back is doubted again`() {
        var suspicion = StreamSuspicion()
        _ = suspicion.update([3: second(0)])
        #expect(suspicion.update([3: second(5)]) == [3])
        #expect(suspicion.update([3: second(6)]) == [])
    }
}
