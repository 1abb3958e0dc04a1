import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

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

    /// The newest state is damaged, and the one before it is from before the decision at 3: the room is restored once more.
    @Test func `has what follows the decision in the order of the log, where an older state makes it read that again`()
        throws
    {
        let (_, bytes) = try saved(5)
        let stored = StoredRoom(
            sequence: 4, handled: 4, cursors: [:], isQuiet: true, hasState: true,
            incarnation: "log.10000001000000-3", restorations: 1)
        let probe = HostProbe(stored: [.algebra: stored], after: 4, isLive: false)
        try probe.log(stroke(8))
        let tail = [record(try stroke(6), 2, probe), record(.control(.restore(Self.decision)), 3, probe)]
        let rest = [record(try stroke(7), 4, probe), record(try stroke(8), 5, probe)]
        try probe.restore(bytes, sequence: 1, tail: tail + rest)
        #expect(probe.output.restorations == [Self.decision])
        #expect(probe.room() == nil)
        try answer(bytes, probe, tail: tail)
        #expect(probe.room()?.incarnation == "log.10000001000000-3")
        #expect(probe.room()?.head.index == 8)
    }

    /// The log has kept record 2, which the state holds, and has had the others since. Times in seconds.
    @Test(arguments: [
        // The clock has gone on, has stood while the power was off, and is behind record 2.
        ([90, 130, 140, 150, 160], [3, 4, 5] as [UInt64]), ([90, 101, 102, 103, 104], [3, 4, 5]),
        ([90, 40, 50, 60, 70], [3, 4, 5]),
    ])
    func `has the records since the cut, whatever the server's clock did meanwhile`(
        _ times: [Int64], _ expected: [UInt64]
    ) throws {
        let records = try times.enumerated().map { place, time in
            JournalRecord(
                partition: 0, room: .algebra,
                content: try place == 3 ? .control(.restore(Self.decision)) : stroke(place),
                sequence: UInt64(place + 2), loggedAt: Instant(nanoseconds: time * 1_000_000_000))
        }
        let held = Instant(nanoseconds: 100_000_000_000)
        #expect(Self.decision.tail(of: records, decision: 5, held: held).map(\.sequence) == expected)
        // Those that are written again, where the log's file is damaged.
        let manifest = CheckpointManifest(
            room: .algebra, log: "log", incarnation: "log-1", sequence: 9, handled: 9, cursors: [:], isQuiet: true,
            state: nil, loggedAt: held)
        let rewind = LogRewind(end: 2, known: 9, lost: 3, rooms: [manifest])
        let copied = records.filter { rewind.isNew($0, to: manifest, in: records.last?.loggedAt) }
        #expect(copied.map(\.sequence) == [3, 4, 5, 6])
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

/// Daemons that work on one partition for a while each save its rooms. What a manifest does not name is deleted.
@Suite struct `The manifest of a save` {
    private func request(_ sequence: UInt64, in incarnation: String = "log-1") -> SaveRequest {
        SaveRequest(
            room: .algebra, partition: 0, state: .unchanged,
            stored: StoredRoom(
                sequence: sequence, handled: sequence, cursors: [.main: CohortCursor(sequence)], isQuiet: true,
                hasState: true, incarnation: incarnation))
    }

    private func state(_ part: UInt64) -> CheckpointManifest.State {
        CheckpointManifest.State(parts: [part], bytes: 1, hash: part, slot: 0)
    }

    /// A manifest that a daemon writes with a state of its own.
    private func saved(_ sequence: UInt64, state part: UInt64, after newest: CheckpointManifest?) -> CheckpointManifest
    {
        var manifest = CheckpointManifest(request(sequence), log: "log", after: nil)
        manifest.begin(state(part), after: newest)
        return manifest
    }

    @Test func `of cursors names a state that another daemon has stored since, not one that is deleted by then`() {
        let own = saved(9, state: 1, after: nil)
        let second = saved(9, state: 2, after: own)
        let third = saved(9, state: 3, after: second)
        #expect(third.obsoleteStates(of: second) == [state(1)])
        var note = CheckpointManifest(request(9), log: "log", after: own)
        note.keepState(of: own, or: third)
        #expect(note.generations.map(\.state) == [state(3), state(2)])
        #expect(note.obsoleteStates(of: third).isEmpty)
    }

    @Test func `of cursors keeps the state that its daemon knows beside a manifest of fewer records`() {
        let old = saved(5, state: 1, after: nil)
        let own = saved(9, state: 2, after: old)
        var note = CheckpointManifest(request(9), log: "log", after: own)
        note.keepState(of: own, or: old)
        #expect(note.generations.map(\.state) == [state(2), state(1)])
    }

    @Test func `does not go back to a life that has ended`() {
        let ended = saved(5, state: 1, after: nil)
        var manifest = CheckpointManifest(request(9, in: "log-7"), log: "log", after: ended)
        manifest.begin(state(2), after: ended)
        #expect(manifest.previous == nil)
        #expect(manifest.obsoleteStates(of: ended) == [state(1)])
    }

    @Test func `keeps the state that the room was restored from, not the damaged one, and writes over neither`() throws
    {
        let good = saved(5, state: 1, after: nil)
        var damaged = saved(9, state: 2, after: good)
        damaged.state?.slot = 1
        let fallback = CheckpointManifest.Fallback(try #require(damaged.previous), of: damaged)
        var next = CheckpointManifest(request(12), log: "log", after: damaged)
        next.begin(state(3), after: damaged, beside: fallback)
        #expect(next.generations.map(\.state) == [state(3), state(1)])
        #expect(next.obsoleteStates(of: damaged).map(\.parts) == [[2]])
        #expect(damaged.freeSlot(beside: fallback) == 2)
        // Where an older manifest alone has named it, and its slot is the only free one.
        damaged.previous?.state.slot = 2
        #expect(damaged.freeSlot(beside: fallback) == 1)
        // It has been read back: the next one goes back to it.
        var last = CheckpointManifest(request(15), log: "log", after: next)
        last.begin(state(4), after: next)
        #expect(last.generations.map(\.state) == [state(4), state(3)])
        // Another life does not go back to it.
        var other = CheckpointManifest(request(20, in: "log-13"), log: "log", after: damaged)
        other.begin(state(5), after: damaged, beside: fallback)
        #expect(other.previous == nil)
    }

    @Test func `tells the next owner how often the room was restored`() {
        var manifest = saved(9, state: 1, after: nil)
        manifest.restorations = 2
        #expect(StoredRoom(manifest).restorations == 2)
    }

    @Test func `counts by its records, then by what authors were told, then by when it was written`() {
        var (early, late, told) = (
            saved(9, state: 1, after: nil), saved(9, state: 2, after: nil), saved(9, state: 3, after: nil)
        )
        told.handled = 11
        early.isQuiet = false
        late.isQuiet = true
        #expect(CheckpointManifest.ranked([told, early, late]).map(\.state) == [state(1), state(2), state(3)])
        var restored = saved(2, state: 4, after: nil)
        restored.restorations = 1
        #expect(CheckpointManifest.ranked([restored, told]).last == restored)
        #expect(told.isBehind(restored))
    }
}
