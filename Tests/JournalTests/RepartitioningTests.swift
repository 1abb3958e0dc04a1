import NATSClient
import NATSTestServer
import TestSupport
import Testing

@testable import Journal

/// Moves to another number of partitions that were stopped while another run did the work.
@Suite struct RepartitioningTests {
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

    @Test func `where another run fills a new log, the copies stay`() async throws {
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
            try await Repartitioning(root: "ink", partitions: 2, connection: connection, logger: .silent).run { _ in }
            let names = try await test.jetStream.streamNames(beginningWith: "INK_LOG_")
            var messages: UInt64 = 0
            for name in names { messages += try await test.jetStream.streamInfo(name).messages }
            #expect(names == ["INK_LOG_0", "INK_LOG_1"] && messages == 5 + 2)
        }
    }
}
