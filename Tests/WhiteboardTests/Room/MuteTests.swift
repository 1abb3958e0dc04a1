import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `A muted author` {
    private func probe(_ configuration: RoomConfiguration = RoomConfiguration()) -> RoomProbe {
        var probe = RoomProbe(configuration)
        probe.send(draw(1), by: .bob)
        probe.send(draw(1))
        _ = (probe.takeTold(), probe.takeTold(.bob))
        return probe
    }

    @Test func `draws, undoes and clears nothing, is told so each time, and what it has drawn stays`() {
        var probe = probe()
        probe.record(.mute(.bob))
        for message in [draw(2), undo(3), clear(4), shard(5, 0, of: 2)] { probe.send(message, by: .bob) }
        #expect(probe.takeTold(.bob) == (2...5).map { "rejected \($0) 0 muted" })
        #expect(probe.visible == [1, 2])
        #expect(probe.room.head.index == 2)
        #expect(probe.counts.intake.rejected[.muted] == 4)
        probe.send(draw(2))
        #expect(probe.takeTold() == ["applied 2 as 3"])
    }

    @Test func `may begin another session while it is muted, and goes on in it`() {
        var probe = probe()
        probe.record(.mute(.bob))
        probe.send(draw(1), by: .bob, session: "new")
        #expect(probe.takeTold(.bob) == ["rejected 1 0 muted"])
        probe.record(.unmute(.bob))
        probe.send(draw(2), by: .bob, session: "new")
        #expect(probe.takeTold(.bob) == ["applied 2 as 3"])
    }

    @Test func `may be one that has never written`() {
        var probe = probe()
        probe.record(.mute(.known("carol")))
        probe.send(draw(1), by: .known("carol"))
        #expect(probe.takeTold(.known("carol")) == ["rejected 1 0 muted"])
        #expect(probe.room.status(at: probe.now).muted == [.known("carol")])
    }

    @Test func `is heard again in the room's next life: a closed room knows nothing of the one before`() {
        var probe = probe()
        probe.record(.mute(.bob))
        probe.record(.close)
        probe.send(draw(1), by: .bob)
        #expect(probe.takeTold(.bob) == ["applied 1 as 1"])
        #expect(probe.room.status(at: probe.now).muted.isEmpty)
    }

    @Test func `of a room without an operation stays muted, and the room goes with the last of them`() {
        var probe = RoomProbe()
        probe.record(.mute(.bob))
        #expect(probe.room.isBlank)
        probe.send(shard(1, 0, of: 2), by: .bob)
        probe.record(.mute(.bob))
        #expect(!probe.room.isBlank)
        probe.send(draw(2), by: .bob)
        #expect(probe.takeTold(.bob).last == "rejected 2 0 muted")
        probe.record(.unmute(.bob))
        #expect(probe.room.isBlank)
    }

    @Test func `is one of 256 at most; one more changes nothing`() {
        var probe = probe()
        for number in 0..<300 { probe.record(.mute(.known("author-\(number)"))) }
        #expect(probe.room.status(at: probe.now).muted.count == ControlRecord.mutedLimit)
        probe.send(draw(1), by: .known("author-299"))
        #expect(probe.takeTold(.known("author-299")) == ["applied 1 as 3"])
        probe.record(.unmute(.known("author-7")))
        probe.record(.mute(.known("author-299")))
        #expect(probe.room.status(at: probe.now).muted.contains(.known("author-299")))
    }

    @Test func `has no growing strokes: what was shown of one is given up, and no more is passed on`() throws {
        var configuration = RoomConfiguration()
        configuration.cohorts = CohortsConfiguration(defaults: CohortSettings(ink: .progressive))
        var probe = probe(configuration)
        let points = WetPoints(
            style: WetStrokeStyle(time: 0), first: 0, points: [StrokePoint(x: 1, y: 1), StrokePoint(x: 2, y: 2)])
        let update = WetUpdate(number: 2, update: 1, .points(points))
        probe.draw(update, by: .bob)
        #expect(probe.room.isDrawing)
        #expect(probe.takeWet().contains { $0.cohort == nil })
        probe.record(.mute(.bob))
        #expect(!probe.room.isDrawing)
        let end = try #require(probe.takeWet().first { $0.cohort == nil })
        #expect(try WetRelease(decoding: end.wet.body).content == .givenUp)
        probe.draw(update, by: .bob)
        #expect(!probe.room.isDrawing && probe.takeWet().isEmpty)
        #expect(probe.counts.wetUpdates[.muted] == 1)
    }

    @Test func `is muted after a restart, and when another daemon takes over`() throws {
        var probe = probe()
        probe.record(.mute(.bob))
        probe.record(.mute(.known("carol")))
        var restored = try probe.restarted()
        #expect(restored.room.status(at: probe.now).muted == [.bob, .known("carol")])
        restored.send(draw(2), by: .bob)
        #expect(restored.takeTold(.bob) == ["rejected 2 0 muted"])
    }

    @Test func `writers are listed by when they were heard last`() {
        var probe = probe(RoomConfiguration(intake: IntakeLimits(authors: 100)))
        for number in 0..<70 {
            probe.wait(.seconds(1))
            probe.send(draw(1), by: .known("author-\(number)"))
        }
        let writers = probe.room.lastWriters
        #expect(writers.count == 64)
        #expect(writers.first == .known("author-69") && writers.last == .known("author-6"))
    }
}
