import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct SavingTests {
    @Test func `the first state is saved a second after the first record, later ones after 30 s or 256 operations`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.wait(.milliseconds(999))
        #expect(probe.world.saves.isEmpty)
        probe.wait(.milliseconds(1))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
        probe.draw(2)
        probe.wait(.seconds(1))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [false])
        probe.wait(.seconds(29))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
        for number in 3...258 { probe.draw(number) }
        probe.wait(.seconds(1))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
    }

    @Test func `a note of cursors names the records that the last state holds, and those that authors know of`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.acknowledge()
        probe.draw(2)
        probe.wait(.seconds(1))
        let note = probe.acknowledge().first?.stored
        #expect(note?.sequence == 1)
        #expect(note?.handled == 2)
        #expect(note?.cursors == [.main: 2])
    }

    @Test func `nothing is saved while releases wait for the connection, for no cursor may be ahead of them`() {
        let probe = HostProbe()
        probe.world.isConnected = false
        probe.draw(1)
        probe.wait(.seconds(10))
        #expect(probe.world.saves.isEmpty)
        probe.world.isConnected = true
        probe.host.setOutput(isOpen: true, at: probe.now)
        #expect(probe.world.released() == [1])
        #expect(probe.world.told == [.applied(number: 1, index: 1)])
        probe.wait(.seconds(1))
        #expect(probe.acknowledge().map(\.stored.cursors) == [[.main: 1]])
    }

    @Test func `what could not be saved is saved whole after a second`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.acknowledge()
        probe.draw(2)
        probe.wait(.seconds(1))
        #expect(probe.acknowledge(isSaved: false).map { $0.bytes != nil } == [false])
        probe.wait(.seconds(1))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
    }

    @Test func `only what acknowledged states hold is covered`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.draw(1, to: .botany)
        #expect(probe.host.covered(of: 0, through: 2) == 0)
        probe.wait(.seconds(1))
        #expect(probe.host.covered(of: 0, through: 2) == 0)
        probe.draw(2)
        probe.acknowledge()
        #expect(probe.host.covered(of: 0, through: 3) == 2)
        probe.wait(.seconds(1))
        probe.acknowledge()
        #expect(probe.host.covered(of: 0, through: 3) == 2)
        probe.wait(.seconds(30))
        probe.acknowledge()
        #expect(probe.host.covered(of: 0, through: 3) == 3)
    }

    @Test func `a closed room is saved as one without a state`() {
        let probe = HostProbe()
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.acknowledge()
        probe.log(.control(.close))
        probe.wait(.seconds(1))
        let note = probe.acknowledge().first?.stored
        #expect(note?.hasState == false)
        #expect(note?.sequence == 2)
        #expect(probe.host.covered(of: 0, through: 2) == 2)
    }

    @Test func `a room that nobody has written to is saved when its log has named a session of the encoder`() {
        let probe = HostProbe()
        probe.log(.control(.epoch(3)))
        probe.wait(.seconds(1))
        let save = probe.acknowledge().first
        #expect(save?.stored.hasState == true)
        #expect(save?.bytes != nil)
    }
}
