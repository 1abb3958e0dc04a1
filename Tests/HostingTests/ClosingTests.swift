import Hosting
import StrokeWire
import Testing
import Whiteboard

/// Closing a partition whose rooms cannot be saved: the daemon that closes it may be the one that opens it next.
@Suite struct `Closing a partition` {
    /// Fails each save until time has passed.
    private func fail(_ probe: HostProbe, for duration: Duration) {
        let end = probe.now + duration
        while probe.now < end {
            probe.acknowledge(isSaved: false)
            probe.wait(.seconds(1))
        }
    }

    @Test func `is given up after 30 s in which nothing could be saved, and counts as not saved`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.draw(1, to: .botany)
        probe.host.close(0, at: probe.now)
        fail(probe, for: .seconds(29))
        #expect(probe.output.closed.isEmpty)
        fail(probe, for: .seconds(2))
        #expect(probe.output.closed == [0])
        #expect(probe.output.whole.isEmpty)
        #expect(probe.host.roomNames.isEmpty && probe.output.storedRooms == 0)
        // It can be opened again, and answers to what was asked before mean nothing to it.
        probe.host.open(0, prefix: "log", stored: [:], at: probe.now)
        probe.host.setLogClock(of: 0, ahead: .zero)
        probe.host.caughtUp(0, at: probe.now)
        #expect(probe.output.ready == [0, 0])
        probe.draw(2)
        #expect(probe.host.roomNames == [.algebra])
    }

    @Test func `is given up where a save is never answered, or a room never comes`() {
        let busy = StoredRoom(
            sequence: 1, handled: 1, cursors: [:], isQuiet: false, hasState: true, incarnation: "log-1")
        let probe = HostProbe(stored: [.botany: busy], after: 1)
        #expect(probe.output.takeFetches() == [.botany])
        probe.draw(1)
        probe.host.close(0, at: probe.now)
        #expect(probe.output.takeSaves().map(\.room) == [.algebra])
        probe.wait(.seconds(29))
        #expect(probe.output.closed.isEmpty)
        probe.wait(.seconds(2))
        #expect(probe.output.closed == [0] && probe.output.whole.isEmpty)
    }

    @Test func `goes on while rooms are saved one after the other, however long that takes`() {
        let probe = HostProbe()
        let rooms = [RoomID.algebra, .botany, .chemistry]
        for room in rooms { probe.draw(1, to: room) }
        probe.host.close(0, at: probe.now)
        #expect(Set(probe.output.takeSaves().map(\.room)) == Set(rooms))
        for room in rooms {
            #expect(probe.output.closed.isEmpty)
            probe.wait(.seconds(29))
            probe.host.saved(room, isSaved: true, at: probe.now)
        }
        #expect(probe.output.closed == [0] && probe.output.whole == [0])
    }

    @Test func `waits for a connection, and longer for what the journal has lost`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.host.close(0, at: probe.now)
        probe.output.isConnected = false
        probe.host.setOutput(isOpen: false, at: probe.now)
        fail(probe, for: .seconds(600))
        #expect(probe.output.closed.isEmpty)
        probe.output.isConnected = true
        probe.host.setOutput(isOpen: true, at: probe.now)
        fail(probe, for: .seconds(29))
        #expect(probe.output.closed.isEmpty)
        fail(probe, for: .seconds(2))
        #expect(probe.output.closed == [0])

        let next = HostProbe()
        next.draw(1)
        next.host.close(0, saving: .everything, at: next.now)
        fail(next, for: .seconds(290))
        #expect(next.output.closed.isEmpty)
        fail(next, for: .seconds(20))
        #expect(next.output.closed == [0] && next.output.whole.isEmpty)
    }
}
