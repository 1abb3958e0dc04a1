import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct ConfirmationTests {
    private func probe() -> HostProbe {
        let probe = HostProbe()
        probe.world.confirms = false
        return probe
    }

    private func reconnect(_ probe: HostProbe) {
        probe.host.setOutput(isOpen: false, at: probe.now)
        probe.host.setOutput(isOpen: true, at: probe.now)
    }

    @Test func `what a lost connection may have taken goes out again in order, what was confirmed does not`() {
        let probe = probe()
        for number in 1...3 { probe.draw(number) }
        probe.wait(.milliseconds(250))
        probe.draw(4)
        probe.world.confirms = true
        probe.confirm()
        probe.world.confirms = false
        probe.draw(5)
        reconnect(probe)
        #expect(probe.world.released() == [1, 2, 3, 4, 5, 4, 5])
        #expect(probe.world.told.suffix(2) == [.applied(number: 4, index: 4), .applied(number: 5, index: 5)])
        probe.draw(6)
        #expect(probe.world.released().last == 6)
    }

    @Test func `answers that a lost connection may have taken go out again though the room was closed since`() {
        let probe = probe()
        probe.draw(1)
        probe.log(.control(.close))
        reconnect(probe)
        #expect(probe.world.told == [.applied(number: 1, index: 1), .applied(number: 1, index: 1)])
        #expect(probe.world.released() == [1])
        probe.world.isConnected = false
        probe.host.setOutput(isOpen: false, at: probe.now)
        probe.draw(2)
        probe.log(.control(.close))
        probe.world.isConnected = true
        probe.host.setOutput(isOpen: true, at: probe.now)
        #expect(probe.world.told.last == .applied(number: 2, index: 1))
        #expect(probe.world.released() == [1])
    }

    @Test func `a confirmation of the lost connection says nothing about what went out again`() {
        let probe = probe()
        probe.draw(1)
        probe.wait(.milliseconds(250))
        reconnect(probe)
        probe.world.confirms = true
        probe.confirm()
        reconnect(probe)
        #expect(probe.world.released() == [1, 1, 1])
    }

    @Test func `all rooms share one question at a time, and none is asked where nothing was published`() {
        let probe = probe()
        probe.wait(.seconds(1))
        #expect(probe.world.confirmations == 0)
        for number in 1...50 {
            probe.draw(number)
            probe.draw(number, to: .botany)
        }
        probe.wait(.milliseconds(249))
        #expect(probe.world.confirmations == 0)
        probe.wait(.milliseconds(500))
        #expect(probe.world.confirmations == 1)
        probe.world.confirms = true
        probe.confirm()
        probe.wait(.milliseconds(900))
        // Marks and notices of what is missing come again by themselves.
        #expect(probe.world.confirmations == 1)
    }

    @Test func `a server that confirms nothing is sent a bounded number of bytes, and the rest when it does`() {
        let probe = probe()
        let points = Array(repeating: #"{"x":1,"y":1}"#, count: 15_000).joined(separator: ",")
        for number in 1...120 {
            probe.send(#"{"n":\#((number + 29) / 30),"t":1,"d":[\#(points)]}"#, by: "author-\(number % 30)")
            probe.wait(.milliseconds(200))
        }
        let sent = probe.world.released().count
        #expect(sent > 20 && sent < 100)
        probe.world.confirms = true
        probe.confirm()
        for _ in 1...20 { probe.wait(.milliseconds(250)) }
        #expect(probe.world.released() == (1...120).map { UInt64($0) })
    }

    @Test func `a room stays in memory until all that it has published is confirmed`() {
        let probe = probe()
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.acknowledge()
        probe.wait(.seconds(120))
        probe.acknowledge()
        #expect(probe.world.left.isEmpty)
        probe.world.confirms = true
        probe.confirm()
        probe.wait(.seconds(61))
        #expect(probe.world.left == [.algebra])
    }

    @Test func `saves that fail come twice as late each time, and soon again on a new connection`() {
        let probe = HostProbe()
        probe.draw(1)
        for pause in [1, 1, 2, 4, 8, 16, 32, 60, 60] {
            probe.wait(.seconds(pause) - .milliseconds(1))
            #expect(probe.world.saves.isEmpty, "before \(pause) s")
            probe.wait(.milliseconds(1))
            #expect(probe.acknowledge(isSaved: false).count == 1, "after \(pause) s")
        }
        reconnect(probe)
        probe.wait(.seconds(1))
        #expect(probe.acknowledge().count == 1)
    }
}
