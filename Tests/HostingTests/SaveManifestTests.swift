import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

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
