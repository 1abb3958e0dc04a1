import Foundation
import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

@Suite struct PlaceTests {
    private let probe = HostProbe()

    /// A host with one place, and a room that sleeps because another has that.
    private func crowded(_ gate: CohortSettings.Gating = .none) -> HostProbe {
        let probe = HostProbe(gate: gate, rooms: 1)
        probe.draw(1)
        probe.draw(1, to: .botany)
        probe.serve()
        #expect(probe.room() == nil)
        return probe
    }

    @Test func `a host with many rooms in memory goes without a call within another for each`() async {
        await withCheckedContinuation { done in
            let thread = Thread {
                let address = RoomAddress(root: "ink", room: .algebra, partitions: 1)
                do {
                    var order = EvictionOrder(places: 20_000)
                    for _ in 0..<20_000 { order.use(HostedRoom(address, at: .distantPast), at: .distantPast) }
                }
                done.resume()
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    @Test func `beyond the places the room longest unused is saved and leaves, and comes back as it was`() {
        let probe = HostProbe(rooms: 2)
        for room in [RoomID.algebra, .botany] { probe.draw(1, to: room) }
        probe.draw(2, to: .algebra)
        probe.draw(1, to: .chemistry)
        #expect(probe.room(.chemistry) == nil)
        probe.serve()
        #expect(probe.output.left == [.botany])
        #expect(probe.room(.chemistry)?.head.index == 1)
        probe.draw(2, to: .botany)
        probe.serve()
        #expect(probe.output.left == [.botany, .algebra])
        #expect(probe.room(.botany)?.head.index == 2)
    }

    @Test func `a room that leaves soon after a release has told its students how far it is`() {
        let probe = HostProbe(rooms: 1)
        probe.draw(1, 2)
        #expect(probe.output.marks.isEmpty)
        probe.draw(1, to: .botany)
        probe.serve()
        #expect(probe.output.left == [.algebra])
        #expect(probe.output.marks == [2])
    }

    @Test
    func `a room in steady use keeps its place while more others than there are places are used in turn`() throws {
        let probe = HostProbe(rooms: 4)
        let others = try (0..<8).map { try #require(RoomID("other-\($0)")) }
        for number in 1...10 {
            probe.draw(number)
            probe.serve()
            probe.wait(.milliseconds(100))
        }
        for number in 11...30 {
            for room in others {
                probe.draw(number, to: room)
                probe.serve()
            }
            probe.draw(number)
            #expect(probe.room()?.head.index == UInt64(number))
        }
        #expect(!probe.output.left.contains(.algebra))
        // A room that is unused for long leaves memory like any other.
        probe.wait(.seconds(10))
        for room in others {
            probe.draw(31, to: room)
            probe.serve()
        }
        #expect(probe.output.left.contains(.algebra))
    }

    @Test func `small rooms give back their places before they are saved, so many at most`() throws {
        let probe = HostProbe(rooms: 2, departing: 3)
        let rooms = try (0..<40).map { try #require(RoomID("room-\($0)")) }
        for room in rooms {
            probe.draw(1, to: room)
            probe.confirm()
            probe.wait(.milliseconds(5))
        }
        #expect(rooms.count { probe.room($0) != nil } == 5)
        #expect(probe.output.left.isEmpty)
        // Those that cannot be saved take places again, and leave when they can be.
        probe.acknowledge(isSaved: false)
        #expect(rooms.count { probe.room($0) != nil } <= 8)
        probe.serve(every: .milliseconds(100), times: 100)
        #expect(probe.output.told.count { $0 == .applied(number: 1, index: 1) } == 40)
        #expect(probe.output.storedRooms == 40)
        #expect(rooms.count { probe.room($0) != nil } <= 2)
    }

    @Test func `rooms in steady use leave a quarter of the places to others`() throws {
        let probe = HostProbe(rooms: 4)
        let steady = try (0..<4).map { try #require(RoomID("steady-\($0)")) }
        for number in 1...20 {
            for room in steady { probe.draw(number, to: room) }
            probe.serve()
            probe.wait(.milliseconds(100))
        }
        for room in [RoomID.algebra, .botany, .chemistry] {
            probe.draw(1, to: room)
            probe.serve()
            #expect(probe.room(room)?.head.index == 1)
        }
        #expect(steady.count { probe.output.left.contains($0) } == 1)
    }

    @Test func `operations held in a sleeping room are released when they have waited long enough`() {
        let probe = crowded(.video)
        probe.serve(every: .seconds(1), times: 29)
        #expect(probe.output.released().isEmpty)
        probe.serve(every: .milliseconds(100), times: 20)
        #expect(probe.output.released() == [1, 1])
    }

    @Test func `many rooms at once share few places, in memory and as bytes`() throws {
        for isDurable in [true, false] {
            let probe = HostProbe(isDurable: isDurable, rooms: 3)
            let rooms = try (0..<50).map { try #require(RoomID("room-\($0)")) }
            for number in 1...3 {
                for room in rooms {
                    probe.draw(number, to: room)
                    probe.serve()
                    #expect(rooms.count { probe.room($0) != nil } <= 3)
                }
            }
            #expect(probe.output.told.count == 150)
            #expect(probe.output.storedRooms == 50)
            #expect(Set(probe.host.roomNames) == Set(rooms))
        }
    }

    @Test func `a journal waits while its records wait for places`() throws {
        let probe = HostProbe(rooms: 1)
        probe.draw(1)
        for number in 0..<4 { probe.draw(1, to: try #require(RoomID("room-\(number)"))) }
        let passed = Flag()
        probe.host.barrier { passed.set() }
        #expect(!passed.isSet)
        probe.serve()
        #expect(passed.isSet)
        #expect(probe.output.told.count == 5)
    }

    @Test func `a room that waits for a place does not cover the end of its life before, while that is stored`() {
        let probe = HostProbe(rooms: 1)
        let saved = probe.send(#"{"n":1,"t":1,"s":2,"o":1,"d":[{"x":1,"y":1}]}"#)
        probe.wait(.seconds(40))
        #expect(probe.acknowledge().count == 1)
        probe.output.storedLimit = 0
        let refused = probe.send(#"{"n":1,"t":1,"s":2,"o":2,"d":[{"x":2,"y":2}]}"#)
        probe.output.storedLimit = 2
        probe.draw(1, to: .botany)
        probe.log(.control(.full(through: refused)))
        let last = probe.send(#"{"n":2,"t":1,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.room() == nil)
        #expect(probe.host.covered(of: 0, through: last) == saved)
    }

    @Test func `a replica that had a place for a room gives it back when the journal refuses it`() {
        probe.draw(1)
        probe.log(.control(.full(through: 1)))
        #expect(probe.output.refusals(of: .roomFull) == [1])
        #expect(probe.output.storedRooms == 0)
        #expect(probe.host.roomNames.isEmpty)
    }

    @Test func `a refusal that the journal does not bring is asked for again`() {
        probe.output.storedLimit = 0
        probe.draw(1)
        #expect(probe.after(.milliseconds(2500)).output.decisions.count == 3)
        #expect(probe.output.saves.isEmpty)
        #expect(probe.host.covered(of: 0, through: 1) == 0)
    }

    @Test func `without a journal that lasts, what sleeps is bounded in bytes`() throws {
        let probe = HostProbe(isDurable: false, rooms: 1, sleepingBytes: 4000)
        var count = 0
        while probe.output.refusals(of: .roomFull).isEmpty, count < 1000 {
            probe.draw(1, to: try #require(RoomID("room-\(count)")))
            probe.serve()
            count += 1
        }
        #expect(count > 5 && count < 100)
        // Boards that are there already may grow, and push out the one that has slept longest.
        let room = try #require(RoomID("room-\(count - 2)"))
        for number in 2...200 {
            probe.draw(number, to: room)
            probe.draw(number, to: try #require(RoomID("room-\(count - 3)")))
            probe.serve()
        }
        #expect(!probe.output.forgotten.isEmpty)
    }

    @Test func `a room that was answered before it existed takes a place like any other`() throws {
        for isDurable in [true, false] {
            let probe = HostProbe(isDurable: isDurable, rooms: 3)
            let rooms = try (0..<50).map { try #require(RoomID("room-\($0)")) }
            for room in rooms {
                probe.send("{}", to: room)
                probe.draw(1, to: room)
                #expect(rooms.count { probe.room($0)?.head.index == 1 } <= 3)
            }
            for _ in 0..<100 { probe.serve() }
            #expect(probe.output.told.count { $0 == .applied(number: 1, index: 1) } == 50)
            #expect(probe.output.storedRooms == 50)
        }
    }

    @Test func `a room that cannot be saved stays, and another leaves`() {
        let probe = HostProbe(rooms: 2)
        for room in [RoomID.algebra, .botany] { probe.draw(1, to: room) }
        probe.draw(1, to: .chemistry)
        probe.wait(.milliseconds(1))
        probe.draw(2)
        probe.acknowledge(isSaved: false)
        #expect(probe.room()?.head.index == 2)
        probe.serve()
        #expect(probe.output.left == [.botany])
        #expect(probe.room(.chemistry)?.head.index == 1)
    }

    @Test func `clock samples of a sleeping room count when the room is back`() {
        let probe = crowded(.video)
        probe.sample(#"{"m":1000}"#)
        probe.serve()
        #expect(probe.output.released() == [1])
    }

    @Test func `a cohort of a room that sleeps begins though other rooms have all places`() throws {
        let probe = crowded()
        probe.sample(#"{"m":5000}"#, cohort: try #require(CohortName("hls")))
        probe.serve()
        #expect(probe.room()?.cursors.count == 2)
    }

    @Test func `the first sample of a room that sleeps closes its gate though other rooms have all places`() {
        let probe = HostProbe(gate: .auto, rooms: 1)
        probe.wait(.seconds(2))
        probe.draw(1)
        probe.draw(1, to: .botany)
        probe.serve()
        #expect(probe.room() == nil)
        #expect(probe.output.released() == [1, 1])
        probe.sample(#"{"m":1000}"#)
        probe.serve()
        probe.send(#"{"n":2,"t":16000,"d":[{"x":1,"y":1}]}"#)
        probe.serve()
        #expect(probe.output.released() == [1, 1])
        probe.sample(#"{"m":16001,"d":true}"#)
        probe.serve()
        #expect(probe.output.released() == [1, 1, 2])
    }

    @Test func `a room that nobody has written to waits for its clock though there was no place to hear it`() {
        let probe = HostProbe(gate: .auto, rooms: 1)
        probe.wait(.seconds(2))
        probe.draw(1, to: .botany)
        probe.sample(#"{"m":1000}"#)
        probe.wait(.milliseconds(400))
        probe.send(#"{"n":1,"t":16000,"d":[{"x":1,"y":1}]}"#)
        probe.serve()
        #expect(probe.room()?.headIndex == 1)
        #expect(probe.output.released() == [1])
        probe.sample(#"{"m":1500}"#)
        probe.wait(.seconds(5))
        #expect(probe.output.released() == [1])
    }

    @Test func `operations held in a room that sleeps in a pause are released when its clock falls silent`() {
        let probe = HostProbe(gate: .video, rooms: 1)
        probe.draw(5000)
        probe.sample(#"{"m":1000,"s":"pause"}"#)
        probe.draw(1, to: .botany)
        // Others want its place all the time.
        for number in 0..<700 {
            probe.wait(.milliseconds(100))
            probe.draw(2 + number, to: .botany)
            probe.serve()
        }
        #expect(probe.output.released().contains(1))
        #expect(probe.output.lateness(of: 5000) == true)
    }

    @Test func `a room of which only the cursors were too late is saved whole before it leaves`() {
        let probe = HostProbe(rooms: 1)
        probe.draw(1)
        #expect(probe.save().map(\.stored.sequence) == [1])
        // The cursors alone are saved, with a state that lacks the second record.
        probe.draw(2)
        #expect(probe.after(.seconds(1)).output.takeSaves().map(\.stored.sequence) == [1])
        probe.draw(1, to: .botany)
        probe.wait(.milliseconds(1))
        probe.host.superseded(.algebra, at: probe.now)
        #expect(probe.output.left.isEmpty)
        #expect(probe.host.covered(of: 0, through: 3) == 1)
        #expect(probe.after(.seconds(2)).output.takeSaves().map(\.stored.sequence) == [2])
    }

    @Test func `output that waits for the connection is bounded in bytes`() {
        probe.output.isConnected = false
        for number in 1...100 { probe.draw(number) }
        probe.output.isConnected = true
        probe.host.setOutput(isOpen: true, at: probe.now)
        #expect(probe.output.released() == Array(1...100))
        #expect(probe.output.told.count < 10)
        probe.draw(100)
        #expect(probe.output.told.last == .applied(number: 100, index: 100))
    }
}
