import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

@Suite struct CursorNoteTests {
    private func note(
        _ released: UInt64, of room: RoomID = .algebra, handled: UInt64 = 0, life: String = "log-1",
        restorations: UInt32 = 0, isQuiet: Bool = true
    ) -> CursorNote {
        CursorNote(
            room: room, incarnation: life, restorations: restorations, handled: handled,
            cursors: [.main: CohortCursor(released)], isQuiet: isQuiet)
    }

    private func manifest(_ note: CursorNote, sequence: UInt64 = 1) -> CheckpointManifest {
        CheckpointManifest(
            room: note.room, log: "log", incarnation: note.incarnation, sequence: sequence, handled: note.handled,
            cursors: note.cursors, isQuiet: note.isQuiet, state: nil, restorations: note.restorations)
    }

    private let now = Instant(nanoseconds: 1_000_000_000)

    @Test func `of two notes of a life each cohort stands where the farther one says, in any order`() throws {
        let late = try #require(CohortName("late"))
        var first = note(7, handled: 20)
        first.cursors[late] = 3
        var second = note(9, handled: 18)
        second.cursors[late] = 1
        for (one, other) in [(first, second), (second, first)] {
            var joined = one
            joined.join(other)
            #expect(joined.cursors == [.main: 9, late: 3])
            #expect(joined.handled == 20)
        }
    }

    @Test func `a pause that began or grew counts where no cursor moved, and so does a video once it was seen`() {
        var (before, after) = (note(4, handled: 9), note(4, handled: 9))
        before.cursors[.main] = CohortCursor(4, pausedTime: .seconds(1), pausedSince: now, hasVideo: true)
        after.cursors[.main] = CohortCursor(4, pausedTime: .seconds(6), hasVideo: false)
        for (one, other) in [(before, after), (after, before)] {
            var joined = one
            joined.join(other)
            #expect(joined.cursors == [.main: CohortCursor(4, pausedTime: .seconds(6), hasVideo: true)])
        }
    }

    @Test func `of two clocks the one behind counts where nothing tells which is later: it may have gone back`() {
        func at(_ milliseconds: Int64) -> CursorNote {
            var note = note(4, handled: 9)
            note.cursors[.main]?.clock = SavedClock(epoch: 1, media: MediaTime(milliseconds: milliseconds))
            return note
        }
        for (one, other) in [(at(100_000), at(84_000)), (at(84_000), at(100_000))] {
            var joined = one
            joined.join(other)
            #expect(joined == at(84_000))
        }
        var manifest = manifest(at(100_000))
        #expect(!manifest.knows(at(84_000)))
        #expect(manifest.learn(at(84_000)) == true)
        #expect(manifest.knows(at(84_000)) && manifest.knows(at(100_000)))
    }

    @Test func `a life that has ended is not gone back to`() {
        var manifest = manifest(note(2, handled: 30, life: "log-29"))
        #expect(manifest.learn(note(400, handled: 28)) == false)
        #expect(manifest.knows(note(400, handled: 28)))
        #expect(manifest.learn(note(0, handled: 40, life: "log-35")) == true)
        #expect(manifest.incarnation == "log-35" && manifest.cursors == [.main: 0])
    }

    @Test func `a note of a room that was restored more often waits for its manifest`() {
        var manifest = manifest(note(2, handled: 30))
        let restored = note(5, handled: 12, life: "log.1-11", restorations: 1)
        #expect(manifest.learn(restored) == false)
        #expect(!manifest.knows(restored))
        #expect(manifest.cursors == [.main: 2])
    }

    @Test func `a room counts as quiet only where the farthest note says so`() {
        for (isQuiet, handled) in [(true, UInt64(9)), (false, 9), (false, 8)] {
            var manifest = manifest(note(3, handled: 8, isQuiet: false))
            manifest.learn(note(3, handled: handled, isQuiet: isQuiet))
            #expect(manifest.isQuiet == (isQuiet && handled == 9))
        }
    }

    @Test func `a record has all notes that no manifest has, whatever has changed`() {
        var notes = CursorNotes(slotBytes: 4096)
        #expect(notes.put(note(1), at: now) == true)
        #expect(notes.put(note(1, of: .botany), at: now) == true)
        #expect(notes.takeChanged() == [0])
        #expect(notes.takeChanged().isEmpty)
        // What it has already is no change.
        #expect(notes.put(note(1), at: now) == true)
        #expect(notes.takeChanged().isEmpty)
        #expect(notes.put(note(2), at: now) == true)
        #expect(notes.takeChanged() == [0])
        #expect(notes.notes(in: 0) == [note(2), note(1, of: .botany)])
        // A manifest that says less leaves it there.
        notes.stored(manifest(note(1)))
        #expect(notes[.algebra] == note(2))
        notes.stored(manifest(note(2)))
        #expect(notes.notes(in: 0) == [note(1, of: .botany)])
    }

    @Test func `notes are split by their bytes, stay in their slots, and are refused where all are full`() throws {
        let bytes = note(1, of: try #require(RoomID("room-10"))).bytes
        var notes = CursorNotes(slotBytes: 2 * bytes)
        let rooms = (10..<10 + 2 * CursorNotes.mostSlots).compactMap { RoomID("room-\($0)") }
        for room in rooms { #expect(notes.put(note(1, of: room), at: now) == true) }
        #expect(notes.takeChanged() == Array(0..<CursorNotes.mostSlots))
        #expect(notes.put(note(1, of: .botany), at: now) == false)
        #expect(notes.put(note(2, of: rooms[5]), at: now) == true)
        #expect(notes.takeChanged() == [2])
        // It grows beyond its slot.
        var grown = note(3, of: rooms[0])
        grown.cursors[try #require(CohortName("late"))] = 1
        #expect(notes.put(grown, at: now) == false)
        #expect(notes[rooms[0]] == note(1, of: rooms[0]))
    }

    @Test func `notes that stay long are named, once in that time`() {
        var notes = CursorNotes(slotBytes: 4096)
        _ = notes.put(note(1), at: now)
        _ = notes.put(note(2), at: now + .seconds(50))
        #expect(notes.takeOld(.seconds(60), atMost: 9, at: now + .seconds(59)).isEmpty)
        #expect(notes.takeOld(.seconds(60), atMost: 9, at: now + .seconds(60)) == [note(2)])
        #expect(notes.takeOld(.seconds(60), atMost: 9, at: now + .seconds(61)).isEmpty)
    }

    @Test func `no more are named at once than asked for, and all of them in turn`() throws {
        let rooms = (10..<60).compactMap { RoomID("room-\($0)") }
        var notes = CursorNotes(slotBytes: 2 * note(1, of: rooms[0]).bytes)
        for room in rooms { #expect(notes.inherit(note(1, of: room), at: now) == true) }
        var named: [RoomID] = []
        while case let some = notes.takeOld(.seconds(60), atMost: 8, at: now), !some.isEmpty {
            #expect(some.count <= 8)
            named += some.map(\.room)
        }
        let recorded = (0..<CursorNotes.mostSlots).flatMap { notes.notes(in: $0).map(\.room) }
        #expect(named.sorted() == rooms.filter { !recorded.contains($0) })
        #expect(named.count == 18)
        // Those in records come when they are old, the others sooner.
        let soon = now + CursorNotes.refusedPause
        #expect(notes.takeOld(.seconds(60), atMost: 100, at: soon).map(\.room) == named.sorted())
        #expect(notes.takeOld(.seconds(60), atMost: 100, at: now + .seconds(60)).map(\.room) == rooms)
    }

    @Test func `what others have noted and records have no space for is named until a manifest has it`() throws {
        let late = try #require(CohortName("late"))
        var grown = note(3)
        grown.cursors[late] = 1
        var notes = CursorNotes(slotBytes: note(1).bytes)
        #expect(notes.put(note(5), at: now) == true)
        notes.inherit(grown, at: now)
        for time in [now, now + CursorNotes.refusedPause] {
            let old = notes.takeOld(.seconds(60), atMost: 9, at: time)
            #expect(old.map(\.cursors) == [[.main: 5, late: 1]])
            #expect(notes[.algebra] == old.first)
            #expect(notes.takeOld(.seconds(60), atMost: 9, at: time).isEmpty)
        }
        notes.stored(manifest(note(5)))
        let end = now + CursorNotes.refusedPause
        #expect(notes.takeOld(.zero, atMost: 9, at: end) == [grown])
        notes.stored(manifest(grown))
        #expect(notes.takeOld(.zero, atMost: 9, at: end).isEmpty)
    }

    @Test func `of others as many are kept as records have; one more stays where it is, and no record is written`()
        throws
    {
        let rooms = (100..<100 + 2 * CursorNotes.mostSlots).compactMap { RoomID("room-\($0)") }
        var notes = CursorNotes(slotBytes: note(1, of: rooms[0]).bytes)
        for room in rooms { #expect(notes.inherit(note(1, of: room), at: now) == true) }
        // What is there of a room may say more.
        let last = try #require(rooms.last)
        #expect(notes.inherit(note(4, of: last), at: now) == true)
        #expect(notes.mayWrite)
        #expect(notes.put(note(2, of: rooms[0]), at: now) == true)
        #expect(notes.inherit(note(1, of: .botany), at: now) == false)
        #expect(notes[.botany] == nil)
        #expect(!notes.mayWrite)
        #expect(notes.put(note(3, of: rooms[0]), at: now) == false)
        // Also when there is space again: the record that has it is not known to have been read again.
        for room in rooms { notes.stored(manifest(note(9, of: room))) }
        #expect(rooms.allSatisfy { notes[$0] == nil })
        #expect(notes.inherit(note(1, of: .botany), at: now) == true)
        #expect(!notes.mayWrite)
    }
}

extension SavingTests {
    @Test func `rooms of a partition note what has changed within milliseconds of each other, each second`() {
        let probe = HostProbe()
        let rooms = (0..<20).compactMap { RoomID("room-\($0)") }
        for room in rooms { probe.draw(1, to: room) }
        probe.wait(.seconds(2))
        probe.acknowledge()
        for number in 2...4 {
            probe.wait(.milliseconds(370))
            for room in rooms { probe.draw(number, to: room) }
            var times: [Int64] = []
            for _ in 0..<1000 {
                probe.wait(.milliseconds(1))
                times += probe.acknowledge().map { _ in probe.now.nanoseconds % 1_000_000_000 }
            }
            #expect(times.count == rooms.count)
            #expect(times.allSatisfy { $0 <= 64_000_000 })
        }
    }
}
