import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct ArrivalTests {
    @Test func `what a sample makes due that was handled late counts as late`() {
        let probe = HostProbe(gate: .video)
        probe.draw(100)
        let arrivedAt = probe.now
        probe.sample(#"{"m":200}"#, handledAfter: .milliseconds(300))
        #expect(probe.world.released() == [1])
        #expect(probe.world.dueTimes == [arrivedAt])
    }

    @Test func `the video has gone on since a sample came that was handled late`() {
        let probe = HostProbe(gate: .video)
        for (number, time) in [(1, 400), (2, 600)] {
            probe.send(#"{"n":\#(number),"t":\#(time),"d":[{"x":1,"y":1}]}"#)
        }
        let arrivedAt = probe.now
        probe.sample(#"{"m":200}"#, handledAfter: .milliseconds(300))
        #expect(probe.world.released() == [1])
        probe.wait(.milliseconds(150))
        #expect(probe.world.released() == [1, 2])
        for (due, passed) in zip(probe.world.dueTimes, [200, 400]) {
            #expect(due - arrivedAt >= .milliseconds(passed) && due - arrivedAt < .milliseconds(passed + 1))
        }
    }
}
