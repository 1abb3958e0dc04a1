import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct ExistenceTests {
    @Test(arguments: [
        "", "{}", "no JSON", #"{"n":1,"a":2}"#, #"{"n":1,"d":[]}"#, #"{"n":1,"e":9,"d":[{"x":1,"y":1}]}"#,
    ])
    func `what is not acceptable makes no room`(text: String) {
        for isDurable in [true, false] {
            let probe = HostProbe(isDurable: isDurable)
            probe.send(text)
            #expect(probe.world.told.count == 1)
            #expect(probe.host.roomNames.isEmpty)
            #expect(probe.host.covered(of: 0, through: 1) == 1)
            guard case .absent = probe.host.look(for: .algebra, partition: 0, at: probe.now) else {
                Issue.record("there is a room")
                continue
            }
            probe.wait(.milliseconds(250))
            #expect(probe.host.nextWake == nil)
            #expect(probe.world.left == [.algebra])
            #expect(probe.world.saves.isEmpty)
        }
    }

    @Test func `what was refused before the first operation leaves no trace`() {
        let probe = HostProbe()
        probe.send(#"{"n":5,"a":2}"#)
        probe.draw(6)
        #expect(probe.world.released() == [1])
        #expect(probe.room()?.incarnation == "log-2")
    }

    @Test func `a room is none again when its only stroke is given up`() {
        let probe = HostProbe()
        probe.send(#"{"n":1,"s":2,"o":0,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.host.roomNames == [.algebra])
        probe.wait(.seconds(10))
        #expect(probe.world.decisions.first == probe.given(up: 1))
        probe.log(.control(probe.given(up: 1)))
        #expect(probe.world.told.last == .gaveUp(from: 1, to: 1))
        #expect(probe.host.roomNames.isEmpty)
        #expect(probe.host.covered(of: 0, through: 2) == 2)
        #expect(probe.world.saves.isEmpty)
        probe.wait(.seconds(1))
        #expect(probe.host.nextWake == nil)
    }

    @Test func `a clock sample makes no room that is written down, and tells the log of a session when there is one`() {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":1000,"ep":3}"#)
        #expect(probe.world.decisions.isEmpty)
        #expect(probe.host.roomNames.isEmpty)
        probe.draw(1)
        #expect(probe.world.decisions == [.epoch(3)])
        #expect(probe.world.released().isEmpty)
        probe.log(.control(.epoch(3)))
        #expect(probe.world.released() == [1])
    }

    @Test func `the clocks of rooms that do not exist take no more places than there are`() throws {
        let probe = HostProbe(rooms: 10)
        for number in 0..<1000 { probe.sample(#"{"m":1}"#, of: try #require(RoomID("room-\(number)"))) }
        #expect(probe.world.left.count == 990)
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.serve()
        for number in 0..<1000 { probe.sample(#"{"m":1}"#, of: try #require(RoomID("room-\(number)"))) }
        probe.draw(2)
        #expect(probe.world.released() == [1, 2])
    }
}

extension HostProbe {
    /// The decision that nothing more is expected of a number.
    func given(up number: Int64) -> ControlRecord {
        guard let author = AuthorID("ann") else { return .close }
        return .gaveUp(author: author, from: number, to: number)
    }
}
