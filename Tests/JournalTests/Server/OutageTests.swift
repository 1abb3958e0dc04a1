import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import Testing
import Whiteboard

/// Each record once and in order, whatever breaks while it is read.
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

    @Test(.timeLimit(.minutes(2)))
    func `50,000 records, with the consumer deleted and the connection cut again and again`() async throws {
        try await TestJournal.with { test, server in
            _ = try await test.journal.provision(0)
            try await fill(test, 1...Self.count)
            var settings = NATSSettings(server)
            settings.name = "reader"
            let connection = NATSConnection(settings, logger: .silent)
            try await connection.connect()
            let own = TestJournal(connection)
            let (reader, book) = own.read()
            for part in 1...8 {
                // Somewhere in the middle, on a machine of any speed.
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
            // And it goes on.
            try await fill(test, Self.count + 1...Self.count + 10)
            try await expectAll(book, Self.count + 10)
            reader.cancel()
            await connection.close()
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `A server killed and started again on its store, three times`() async throws {
        try await TestJournal.with { test, server in
            _ = try await test.journal.provision(0)
            try await fill(test, 1...Self.count)
            let states = test.connection.recordStates()
            let (reader, book) = test.read()
            for part in 1...3 {
                _ = try await book.records.values(part * Self.count / 5)
                await server.kill()
                _ = try await states.values(2 * part - 1)
                try await server.restart()
                _ = try await states.values(2 * part)
            }
            try await expectAll(book, Self.count)
            try await fill(test, Self.count + 1...Self.count + 10)
            try await expectAll(book, Self.count + 10)
            reader.cancel()
        }
    }

    @Test func `A server that stands still until the connection counts as lost`() async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server, { $0.pingInterval = .milliseconds(100) }) { nats in
                let test = TestJournal(nats)
                _ = try await test.journal.provision(0)
                let states = nats.recordStates()
                let (reader, book) = test.read()
                try await fill(test, 1...100)
                _ = try await book.records.values(100)
                await server.pause()
                _ = try await states.values(1)
                await server.resume()
                _ = try await states.values(2)
                try await fill(test, 101...200)
                try await expectAll(book, 200)
                reader.cancel()
            }
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
