import StrokeWire
import Testing

@testable import LecternGateway

/// Readers of events get few marks, and none that says something new is kept from them.
@Suite struct MarkThrottleTests {
    private func mark(_ video: Int64?, _ change: (inout Mark) -> Void = { _ in }) -> Mark {
        var mark = Mark(
            room: "life", index: 1, digest: .empty, video: video.map { MediaTime(milliseconds: $0) }, gate: .video)
        change(&mark)
        return mark
    }

    @Test func `A video that goes on is told each 5 s, whatever is released`() {
        var throttle = MarkThrottle()
        let passed = (0...20).filter { second in
            throttle.passes(mark(7000 + Int64(second) * 1000) { $0.index = UInt64(second) }, at: .seconds(second))
        }
        #expect(passed == [0, 5, 10, 15, 20])
    }

    @Test func `A video that is not there is told each 5 s`() {
        var throttle = MarkThrottle()
        #expect((0...10).filter { throttle.passes(mark(nil), at: .seconds($0)) } == [0, 5, 10])
    }

    @Test func `A video that stops, jumps, comes or goes is told at once`() throws {
        let author = try #require(AuthorID("a"))
        let changes: [Mark] = [
            mark(8400), mark(9600), mark(nil), mark(9000) { $0.gate = .open }, mark(9000) { $0.room = "next" },
            mark(9000) { $0.page = 2 }, mark(9000) { $0.live = MediaTime(milliseconds: 1) },
            mark(9000) { $0.covered = Mark.Covered(author: author, session: nil, number: 1) },
        ]
        for change in changes {
            var throttle = MarkThrottle()
            #expect(throttle.passes(mark(7000), at: .zero) == true)
            #expect(throttle.passes(mark(8000), at: .seconds(1)) == false)
            #expect(throttle.passes(change, at: .seconds(2)) == true)
        }
    }

    @Test func `The time at the teacher is told at once when it jumps`() {
        var throttle = MarkThrottle()
        func head(_ live: Int64) -> Mark { mark(nil) { $0.live = MediaTime(milliseconds: live) } }
        #expect(throttle.passes(head(1000), at: .zero) == true)
        #expect(throttle.passes(head(2000), at: .seconds(1)) == false)
        #expect(throttle.passes(head(9000), at: .seconds(2)) == true)
    }
}
