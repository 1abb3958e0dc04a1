import Hosting
import StrokeWire
import Testing
import Whiteboard

/// A log that has lost its end has a decision from which state each of its rooms goes on.
@Suite struct `A room that is restored` {
    private static let decision = RoomRestoration(checkpoint: 7, after: 1, number: 1)

    /// A room with strokes, saved after the last, and what it was told to its authors then.
    private func saved(_ strokes: Int) throws -> (stored: StoredRoom, bytes: [UInt8]) {
        let probe = HostProbe()
        for number in 1...strokes { probe.draw(number) }
        probe.wait(.seconds(31))
        let save = try #require(probe.acknowledge().last { $0.bytes != nil })
        return (save.stored, try #require(save.bytes))
    }

    private func answer(_ bytes: [UInt8], _ probe: HostProbe, tail: [JournalRecord]) throws {
        try probe.restore(bytes, sequence: Self.decision.after, restorations: Self.decision.number, tail: tail)
    }

    private func record(_ content: JournalRecord.Content, _ sequence: UInt64, _ probe: HostProbe) -> JournalRecord {
        JournalRecord(partition: 0, room: .algebra, content: content, sequence: sequence, loggedAt: probe.now)
    }

    private func stroke(_ number: Int) throws -> JournalRecord.Content {
        .message(
            author: try #require(AuthorID("ann")), session: nil,
            bytes: Array(#"{"n":\#(number),"t":0,"d":[{"x":1,"y":1}]}"#.utf8))
    }

    /// The log has record 1, a stroke that was written after the cut, and the decision at 3.
    @Test func `goes on behind the decision with what was written before it, in another incarnation`() throws {
        let (stored, bytes) = try saved(5)
        #expect(stored.sequence == 5)
        let probe = HostProbe(stored: [.algebra: stored], after: 1, isLive: false)
        try probe.log(stroke(6))
        // The state holds what was at this place before.
        #expect(probe.output.fetched.isEmpty)
        probe.log(.control(.restore(Self.decision)))
        // The decision waits until what is stored is there.
        try probe.restore(bytes, sequence: 5)
        #expect(probe.output.restorations == [Self.decision])
        #expect(probe.room() == nil)
        try probe.log(stroke(7))
        let tail = [record(try stroke(6), 2, probe), record(.control(.restore(Self.decision)), 3, probe)]
        try answer(bytes, probe, tail: tail)
        #expect(probe.room()?.incarnation == "log.10000001000000-3")
        #expect(probe.room()?.head.index == 7)
        #expect(probe.output.covered == ["6 in log.10000001000000-3"])
        probe.host.caughtUp(0, at: probe.now)
        #expect(probe.output.released() == [6, 7])
        let save = try #require(probe.save().first)
        #expect(save.stored.sequence == 4)
        #expect(save.stored.restorations == 1)
        #expect(save.stored.incarnation == "log.10000001000000-3")
    }

    @Test func `passes over the same decision of another daemon, and takes a later one`() throws {
        let (_, bytes) = try saved(5)
        let probe = HostProbe(after: 1, isLive: false)
        probe.log(.control(.restore(Self.decision)))
        try answer(bytes, probe, tail: [record(.control(.restore(Self.decision)), 2, probe)])
        probe.log(.control(.restore(RoomRestoration(checkpoint: 9, after: 1, number: 1))))
        #expect(probe.output.restorations == [Self.decision])
        #expect(probe.room()?.incarnation == "log.10000001000000-2")
        let later = RoomRestoration(checkpoint: 11, after: 3, number: 2)
        probe.log(.control(.restore(later)))
        #expect(probe.output.restorations == [Self.decision, later])
        #expect(probe.room() == nil)
    }

    @Test func `has its authors told once what a checkpoint holds of them`() throws {
        let probe = HostProbe()
        for number in 1...3 { probe.draw(number) }
        probe.save()
        let first = probe.output.covered
        #expect(first.last == "3 in log-1" || first.last == "1 in log-1")
        probe.wait(.seconds(40))
        probe.acknowledge()
        #expect(probe.output.covered.last == "3 in log-1")
        #expect(Set(probe.output.covered).count == probe.output.covered.count)
    }
}
