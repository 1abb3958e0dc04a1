import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

/// Updates of strokes being drawn, for rooms wherever they are.
@Suite struct `A room in which a pen begins to draw` {
    private func probe(rooms: Int = 100) -> HostProbe {
        HostProbe(cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none, ink: .progressive)), rooms: rooms)
    }

    private func lose(_ probe: HostProbe) {
        probe.output.isConnected = false
        probe.host.setOutput(isOpen: false, at: probe.now)
    }

    private func reconnect(_ probe: HostProbe) {
        probe.output.isConnected = true
        probe.host.setOutput(isOpen: true, at: probe.now)
    }

    private func update(_ u: Int64, k: Int = 0, count: Int = 1) -> [UInt8] {
        WetUpdate(
            number: 8, update: u,
            .points(
                WetPoints(
                    style: WetStrokeStyle(time: 0), first: k,
                    points: (k..<k + count).map { StrokePoint(x: Double($0), y: 0) }))
        ).encoded()
    }

    /// `k:count` of each message to `main`; `x` for one that gives up.
    private func published(_ probe: HostProbe) throws -> [String] {
        try probe.output.published.compactMap { effect in
            guard case .wet(.main?, let wet) = effect else { return nil }
            guard case .points(let points) = try WetRelease(decoding: wet.body).content else { return "x" }
            return "\(points.first):\(points.points.count)"
        }
    }

    @Test func `comes into memory where nobody has written to it, and leaves when the pen is silent`() throws {
        let probe = probe()
        probe.wet(update(1))
        #expect(try published(probe) == ["0:1"])
        probe.wait(.milliseconds(50))
        probe.wet(update(2, k: 1))
        #expect(try published(probe) == ["0:1", "1:1"])
        #expect(probe.output.wetUpdates == [.taken: 2])
        probe.wait(.seconds(12))
        #expect(try published(probe).last == "x")
        #expect(probe.output.left == [.algebra])
        #expect(probe.host.wetBytes == 0)
        #expect(probe.output.storedRooms == 0)
    }

    @Test func `comes into memory from where it is stored, with the updates that came meanwhile`() throws {
        let probe = probe()
        probe.draw(7)
        probe.wait(.seconds(100))
        probe.serve()
        #expect(probe.room() == nil)
        probe.wet(update(1))
        probe.wet(update(2, k: 1))
        for index in 0..<500 { probe.wet(update(Int64(3 + index), k: 0, count: 2)) }
        #expect(probe.output.wetUpdates[.noRoom] ?? 0 > 400)
        #expect(probe.host.wetBytes <= 16 << 10)
        probe.serve()
        #expect(probe.room() != nil)
        #expect(try published(probe) == ["0:2"])
    }

    @Test func `takes a free place where it is there for an answer alone, and stays when that is confirmed`() throws {
        let probe = probe()
        probe.output.confirms = false
        probe.send("{}")
        #expect(probe.output.told.count == 1)
        probe.wet(update(1))
        #expect(probe.output.wetUpdates == [.taken: 1])
        probe.wait(.milliseconds(250))
        probe.output.confirms = true
        #expect(probe.confirm())
        probe.wet(update(2, k: 1))
        #expect(try published(probe) == ["0:1", "1:1"])
        #expect(probe.output.left.isEmpty)
        probe.wait(.seconds(12))
        #expect(try published(probe).last == "x")
        #expect(probe.output.left == [.algebra])
        #expect(probe.host.wetBytes == 0)
    }

    @Test func `stays where it is when there is no place for it, and the update is counted`() throws {
        let probe = probe(rooms: 1)
        probe.draw(7, to: .botany)
        probe.wet(update(1))
        #expect(probe.room() == nil)
        #expect(probe.output.wetUpdates == [.noRoom: 1])
    }

    @Test func `gives its place to a room that is written to, and tells who has points`() throws {
        let probe = probe(rooms: 1)
        probe.wet(update(1))
        #expect(try published(probe) == ["0:1"])
        probe.wait(.milliseconds(20))
        probe.draw(7, to: .botany)
        #expect(probe.after(.milliseconds(20)).room(.botany) != nil)
        #expect(try published(probe) == ["0:1", "x"])
    }

    @Test func `gives its place to no other while nobody can be told of the end`() throws {
        let probe = probe(rooms: 1)
        probe.wet(update(1))
        probe.wait(.milliseconds(300))
        lose(probe)
        probe.draw(7, to: .botany)
        #expect(probe.after(.milliseconds(100)).output.left.isEmpty)
        reconnect(probe)
        probe.wait(.milliseconds(100))
        #expect(try published(probe) == ["0:1", "x"])
        #expect(probe.output.left == [.algebra])
        #expect(probe.room(.botany) != nil)
    }

    @Test func `tells of an end also where it is one room too many`() throws {
        let probe = probe()
        probe.output.storedLimit = 0
        probe.wet(update(1))
        probe.draw(8)
        probe.log(.control(.full(through: 1)))
        #expect(try published(probe) == ["0:1", "x"])
    }

    @Test func `keeps nothing beyond what all rooms together may`() throws {
        let probe = HostProbe(
            cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none, ink: .progressive)), wetBytes: 200_000)
        for room in [RoomID.algebra, .botany, .chemistry] {
            probe.draw(7, to: room)
            for author in ["ann", "bob", "eve"] { probe.wet(update(1, count: 700), to: room, by: author) }
        }
        #expect(probe.host.wetBytes <= 200_000)
        #expect(probe.output.wetUpdates == [.taken: 5, .full: 4])
        #expect(probe.after(.seconds(12)).host.wetBytes == 0)
        probe.wet(update(1, count: 700), to: .chemistry)
        #expect(probe.output.wetUpdates == [.taken: 6, .full: 4])
    }
}
