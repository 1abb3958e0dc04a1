import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// Each record comes once and in order, whatever breaks while the log is read.
@Suite struct OutageTests {
    private static let count = 50_000

    /// Writes records without waiting for each, then checks that all are there.
    private func fill(_ test: TestJournal, _ numbers: ClosedRange<Int>) async throws {
        let body = [UInt8](repeating: 1, count: 200)
        for number in numbers {
            let subject = "ink.0.room\(number % 7).in.anna"
            if number % 500 == 0 || number == numbers.upperBound {
                let acknowledged = try await test.jetStream.publish(body, to: subject)
                #expect(acknowledged.sequence == UInt64(number))
            } else {
                try test.connection.publish(body, to: subject)
            }
        }
    }

    private func expectAll(_ book: LogBook, _ count: Int) async throws {
        _ = try await book.records.values(count)
        #expect(book.sequences == (1...count).map { UInt64($0) })
        #expect(try await book.besides.values(1) == [.caughtUp])
    }

    @Test(.timeLimit(.minutes(4)))
    func `50,000 records, with the consumer deleted and the connection cut again and again`() async throws {
        try await TestJournal.provisioned { test, server in
            try await fill(test, 1...Self.count)
            let connection = NATSConnection(NATSSettings(server), logger: .silent)
            try await connection.connect()
            let (reader, book) = TestJournal(connection).read()
            for part in 1...8 {
                // Somewhere in the middle, at any speed of the machine.
                _ = try await book.records.values(part * Self.count / 10)
                if part % 2 == 0 {
                    for name in try await test.connection.consumers(of: "INK_LOG_0") {
                        try await test.connection.deleteConsumer(name, of: "INK_LOG_0")
                    }
                } else {
                    connection.cut()
                }
            }
            try await expectAll(book, Self.count)
            // Reading continues.
            try await fill(test, Self.count + 1...Self.count + 10)
            try await expectAll(book, Self.count + 10)
            reader.cancel()
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `A log counts as read to its end at rest, not while reading is interrupted, and again then`() async throws {
        try await TestJournal.provisioned { test, server in
            let connection = NATSConnection(NATSSettings(server), logger: .silent)
            try await connection.connect()
            let (reader, book) = TestJournal(connection).read()
            // The first at once, the others by heartbeats, each for twice the time between these.
            let signs = try await book.levels.values(4)
            #expect(signs.allSatisfy { $0 > .distantPast && $0 <= MonotonicClock.now() + .milliseconds(400) })
            #expect(zip(signs, signs.dropFirst()).allSatisfy { $1 > $0 })
            connection.cut()
            try await test.write("meanwhile")
            #expect(try await book.records.values(1).map(\.sequence) == [1])
            try await eventually(
                "the log counts as read to its end again",
                is: book.levels.values.contains(.distantPast) && book.levels.values.last != .distantPast)
            #expect(book.levels.values.count { $0 == .distantPast } == 1)
            reader.cancel()
            await connection.close()
        }
    }

    @Test func `Reading may begin before the stream and the server are there`() async throws {
        try await TestJournal.with { test, server in
            let states = test.connection.recordStates()
            let (reader, book) = test.read()
            await server.kill()
            try await server.restart()
            _ = try await states.values(2)
            _ = try await test.journal.provision(0)
            try await test.write("one")
            _ = try await book.records.values(1)
            reader.cancel()
        }
    }
}
