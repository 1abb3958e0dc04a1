import Hosting
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

/// Moves to another number of partitions: those that were stopped while another run did the work, and those of what faults
/// have left.
@Suite struct RepartitioningTests {
    private func move(_ test: TestJournal, to partitions: Int = 2) async throws {
        try await Repartitioning(root: "ink", partitions: partitions, connection: test.connection, logger: .silent)
            .run { _ in }
    }

    @Test func `without the copies, which another run may have deleted at its end, nothing is deleted`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...5 { try await test.write("\(number)") }
            let connection = test.connection
            let moving = Repartitioning(root: "ink", partitions: 2, connection: connection, logger: .silent)
            await #expect(throws: Repartitioning.Failure.disturbed(stream: "INK_CHECKPOINT_0")) {
                try await moving.run { progress in
                    guard case .copied = progress else { return }
                    // In the order in which the server gets them, before the next request.
                    for copy in ["LOG_0", "CHECKPOINT_0"] {
                        try? connection.publish([], to: "$JS.API.STREAM.DELETE.INK_MOVING_\(copy)", reply: "nobody")
                    }
                }
            }
            #expect(try await test.jetStream.streamNames(beginningWith: "INK_") == ["INK_CHECKPOINT_0", "INK_LOG_0"])
            #expect(try await test.jetStream.streamInfo("INK_LOG_0").messages == 5)
        }
    }

    @Test func `the copies stay while another run fills a new log`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...5 { try await test.write("\(number)") }
            let connection = test.connection
            let moving = Repartitioning(root: "ink", partitions: 2, connection: connection, logger: .silent)
            await #expect(throws: Repartitioning.Failure.self) {
                try await moving.run { progress in
                    guard case .moving = progress else { return }
                    try? connection.publish([], to: "ink.1.MOVED.moved.ctl", reply: "nobody")
                }
            }
            let copies = ["INK_MOVING_CHECKPOINT_0", "INK_MOVING_LOG_0"]
            #expect(try await test.jetStream.streamNames(beginningWith: "INK_MOVING_") == copies)
            try await move(test)
            let names = try await test.jetStream.streamNames(beginningWith: "INK_LOG_")
            var messages: UInt64 = 0
            for name in names { messages += try await test.jetStream.streamInfo(name).messages }
            #expect(names == ["INK_LOG_0", "INK_LOG_1"] && messages == 5 + 2)
        }
    }

    enum Loss: CaseIterable {
        case end, replacedRecord, unsavedDecision
    }

    @Test(arguments: Loss.allCases)
    func `a log that has lost its end is moved only when its rooms were saved since`(_ loss: Loss) async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...5 { try await test.write("\(number)") }
            var manifest = CheckpointManifest(
                room: try .physics, log: try await test.journal.log(of: .physics), incarnation: "", sequence: 5,
                handled: 5, cursors: [:], isQuiet: true, state: nil)
            switch loss {
            case .end: manifest.handled = 9
            case .replacedRecord: manifest.handledAt = Instant(nanoseconds: 1)
            case .unsavedDecision:
                let restoration = RoomRestoration(checkpoint: 1, after: 5, number: 1)
                _ = try await test.journal.write(.restore(restoration), room: .physics, id: "restored")
            }
            try await test.store.save(manifest)
            await #expect(throws: Repartitioning.Failure.unrepaired(log: "INK_LOG_0")) { try await move(test) }
            #expect(try await test.jetStream.streamNames(beginningWith: "INK_") == ["INK_CHECKPOINT_0", "INK_LOG_0"])
            // Captured again.
            let last = try await test.write("6").sequence
            (manifest.restorations, manifest.sequence, manifest.handled) = (1, last, last)
            manifest.handledAt = try await test.journal.time(of: last, in: 0).map { Instant(nanoseconds: $0) }
            try await test.store.save(manifest)
            try await move(test)
            #expect(try await test.jetStream.streamNames(beginningWith: "INK_LOG_") == ["INK_LOG_0", "INK_LOG_1"])
        }
    }

    @Test func `a command to erase whose decision the log has given back is known in the new logs`() async throws {
        try await TestJournal.provisioned { test, _ in
            let room = try RoomID.physics
            func deletion(_ partitions: Int) -> StoredRoomDeletion {
                StoredRoomDeletion(
                    root: "ink", partitions: partitions, settings: JournalSettings(), connection: test.connection,
                    logger: .silent)
            }
            try await test.write("1")
            try await deletion(1).decide(room, by: "command", assetsBefore: 7)
            let decision = try #require(try await deletion(1).decision(on: room, by: "command"))
            try await deletion(1).note(decision, by: "command")
            for number in 2...3 { try await test.write("\(number)") }
            try await test.journal.trim(0, before: decision.sequence + 1)
            for partitions in [2, 3] {
                try await move(test, to: partitions)
                let moved = try await deletion(partitions).decision(on: room, by: "command")
                // All that the log has of the room stands behind it.
                #expect(moved?.sequence == 1 && moved?.assetsBefore == 7 && moved?.time == decision.time)
            }
        }
    }

    @Test func `the older state of a room does not pass for as young as the one that cannot be read`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...5 { try await test.write("\(number)") }
            let room = try RoomID.physics
            var manifest = CheckpointManifest(
                room: room, log: try await test.journal.log(of: room), incarnation: "", sequence: 3, handled: 3,
                cursors: [:], isQuiet: true, state: try await test.store.save(state: [1], room: room, beside: nil))
            let newer = try await test.store.save(state: [2], room: room, beside: manifest)
            manifest.previous = manifest.generations.first
            (manifest.state, manifest.sequence, manifest.handled) = (newer, 5, 5)
            manifest.loggedAt = Instant(nanoseconds: 5)
            try await test.store.save(manifest)
            try await test.connection.deleteMessage("INK_CHECKPOINT_0", try #require(newer.parts.first))
            try await move(test)
            let journal = JetStreamJournal(
                root: "ink", partitions: 2, settings: JournalSettings(), connection: test.connection, logger: .silent)
            let store = CheckpointStore(root: "ink", partitions: 2, connection: test.connection, logger: .silent)
            let moved = try await store.manifest(of: room, log: try await journal.log(of: room))
            // Behind the mark of the new log.
            #expect(moved?.sequence == 4 && moved?.loggedAt == nil)
        }
    }
}
