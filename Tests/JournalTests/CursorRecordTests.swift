import Hosting
import NATSClient
import NATSTestServer
import StrokeWire
import Testing
import Whiteboard

@testable import Journal

/// The notes of many rooms in one record, and what a start makes of them.
@Suite struct CursorRecordTests {
    private func note(_ room: String, _ released: UInt64, handled: UInt64 = 5) throws -> CursorNote {
        CursorNote(
            room: try #require(RoomID(room)), incarnation: "abc-1", handled: handled,
            cursors: [.main: CohortCursor(released)], isQuiet: true)
    }

    @Test func `The notes of all rooms of a partition cost one request, and a start reads them`() async throws {
        try await TestJournal.provisioned { test, _ in
            let rooms = (0..<50).map { "room-\($0)" }
            for room in rooms { try await test.store.save(try sampleManifest(room, at: 5)) }
            let questions = Recorder<Void>()
            try test.connection.subscribe("$JS.API.STREAM.MSG.GET.>") { _ in questions.append(()) }
            var place: UInt64 = 0
            var before = 0
            let messages = try await test.jetStream.streamInfo("INK_CHECKPOINT_0").lastSequence
            for released in UInt64(8)...12 {
                let notes = try rooms.map { try note($0, released) }
                let (sequence, others) = try await test.store.save(notes, in: 0, of: 0, log: "abc", after: place)
                #expect(others.isEmpty)
                place = sequence
                try await test.connection.flush()
                if before == 0 { before = questions.values.count }
            }
            // Only the first one asks who has written before.
            #expect(questions.values.count == before)
            #expect(try await test.jetStream.streamInfo("INK_CHECKPOINT_0").lastSequence == messages + 5)
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.rooms.count == 50)
            #expect(catalogue.rooms.values.allSatisfy { $0.cursors == [.main: 12] })
            #expect(Set(catalogue.notes.map(\.room)) == Set(catalogue.rooms.keys))
            #expect(catalogue.damaged.isEmpty && catalogue.outdated.isEmpty && catalogue.foreign == 0)
        }
    }

    @Test func `A manifest that says as much, and one of another life, need no note`() async throws {
        try await TestJournal.provisioned { test, _ in
            try await test.store.save(try sampleManifest("physics", at: 5))
            var closed = try sampleManifest("chemistry", at: 9)
            (closed.incarnation, closed.cursors) = ("", [:])
            try await test.store.save(closed)
            let notes = [try note("physics", 7), try note("chemistry", 40), try note("nobody", 3)]
            _ = try await test.store.save(notes, in: 0, of: 0, log: "abc", after: 0)
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.notes.isEmpty)
            #expect(catalogue.rooms == [try .physics: try sampleManifest(at: 5), try .chemistry: closed])
        }
    }

    @Test func `Who writes beside another gets to know what the other has written`() async throws {
        try await TestJournal.provisioned { test, _ in
            let other = TestJournal(test.connection).store
            let (first, second) = ([try note("physics", 8)], [try note("chemistry", 9)])
            let place = try await test.store.save(first, in: 0, of: 0, log: "abc", after: 0).sequence
            #expect(try await other.save(second, in: 0, of: 0, log: "abc", after: 0).others == first)
            #expect(try await test.store.save(first, in: 0, of: 0, log: "abc", after: place).others == second)
            // A slot has records of its own.
            #expect(try await other.save(second, in: 1, of: 0, log: "abc", after: 0).others.isEmpty)
        }
    }

    @Test func `A damaged record leaves the one before, and one of another log says nothing`() async throws {
        try await TestJournal.provisioned { test, _ in
            try await test.store.save(try sampleManifest(at: 5))
            _ = try await test.store.save([try note("physics", 8)], in: 0, of: 0, log: "abc", after: 0)
            _ = try await test.store.save([try note("physics", 30)], in: 0, of: 0, log: "xyz", after: 0)
            _ = try await test.jetStream.publish([0], to: "ink.0.CURSORS0.checkpoint")
            let catalogue = try await test.store.catalogue(of: 0, log: "abc")
            #expect(catalogue.rooms[try .physics]?.cursors == [.main: 8])
            #expect(catalogue.outdated.isEmpty)
        }
    }

    @Test func `A record comes back as it was written, and takes no more bytes than were counted`() throws {
        var full = try note("physics", UInt64(Int64.max), handled: UInt64(Int64.max))
        full.restorations = .max
        full.handledAt = Instant(nanoseconds: .max)
        full.isQuiet = false
        for number in 0..<8 {
            full.cursors[try #require(CohortName("cohort-\(number)"))] = CohortCursor(
                UInt64(Int64.max), pausedTime: .nanoseconds(Int64.max), pausedSince: Instant(nanoseconds: .max),
                hasVideo: false,
                clock: SavedClock(epoch: .max, media: MediaTime(microseconds: .max)))
        }
        let record = CursorRecord(log: "abc", notes: [full, try note("room", 3)])
        #expect(try CursorRecord(decoding: record.encoded()) == record)
        var space = CursorNotes(slotBytes: CursorRecord(log: "abc", notes: [full]).encoded().count - 200)
        #expect(space.put(full, at: Instant(nanoseconds: 0)) == false)
    }

    @Test func `A release that does not know them passes over records, and a newer one is refused`() throws {
        let streams = PartitionStreams(root: "ink", partition: 3)
        #expect(streams.cursors(2) == "ink.3.CURSORS2.checkpoint")
        #expect(streams.room(ofManifest: streams.cursors(2)) == nil)
        #expect(streams.isOfCursors(streams.cursors(2)))
        #expect(!streams.isOfCursors("ink.3.cursors2.checkpoint"))
        let newer = HashedJSON.encode { json in
            json.append("log", string: "abc")
            json.append("version", integer: 2)
        }
        #expect(throws: CheckpointManifest.Unreadable.self) { try CursorRecord(decoding: newer) }
    }
}
