import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite struct ReadingTests {
    @Test func `What was written comes in order with its author, its session and the log's time`() async throws {
        try await TestJournal.with { test, _ in
            let log = try await test.journal.provision(0)
            #expect(log.lastSequence == 0)
            try await test.write("one")
            let headers: NATSHeaders = ["Ink-Session": "s2"]
            _ = try await test.jetStream.publish([2], to: "ink.0.physics.in.ben", headers: headers)
            test.journal.append(.epoch(3), room: try .physics, id: "epoch-3")
            let (reader, book) = test.read()
            let records = try await book.records.values(3)
            #expect(book.sequences == [1, 2, 3])
            guard case .message(let author, let session, let bytes) = records[1].content else {
                Issue.record("not a message")
                return
            }
            #expect((author.text, session, bytes) == ("ben", "s2", [2]))
            guard case .control(.epoch(3)) = records[2].content else {
                Issue.record("not the decision")
                return
            }
            #expect(records.allSatisfy { $0.partition == 0 && $0.room.text == "physics" })
            _ = try await book.entries.values(5)
            #expect(book.eventsBesides == [.caughtUp])
            guard case .clock = book.entries.values[0] else {
                Issue.record("the clock comes first")
                return
            }
            #expect(reader.position == 3)
            reader.cancel()
        }
    }

    @Test func `An empty log is caught up with at once, and what is written then comes`() async throws {
        try await TestJournal.with { test, _ in
            _ = try await test.journal.provision(0)
            let (reader, book) = test.read()
            _ = try await book.entries.values(2)
            #expect(book.eventsBesides == [.caughtUp])
            try await test.write("one")
            _ = try await book.records.values(1)
            reader.cancel()
        }
    }
}
