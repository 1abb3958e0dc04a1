import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

@Suite struct ReadingTests {
    @Test func `Records come in order with their author, session and the log's time`() async throws {
        try await TestJournal.with { test, _ in
            let log = try await test.journal.provision(0)
            #expect(log.lastSequence == 0)
            try await test.write("one")
            let headers: NATSHeaders = ["Ink-Session": "s2"]
            _ = try await test.jetStream.publish([2], to: "ink.0.physics.in.ben", headers: headers)
            test.journal.append(.epoch(3), room: try .physics)
            let (reader, book) = test.read()
            let records = try await book.records.values(3)
            #expect(book.sequences == [1, 2, 3])
            guard case .message(let author, let session, let bytes) = records[1].content else {
                throw Unexpected("not a message")
            }
            #expect((author.text, session, bytes) == ("ben", "s2", [2]))
            guard case .control(.epoch(3)) = records[2].content else { throw Unexpected("not the decision") }
            #expect(records.allSatisfy { $0.partition == 0 && $0.room.text == "physics" })
            _ = try await book.entries.values(5)
            #expect(try await book.besides.values(1) == [.caughtUp])
            guard case .clock = book.entries.values[0] else { throw Unexpected("the clock comes first") }
            #expect(reader.position == 3)
            reader.cancel()
        }
    }

    @Test func `An empty log is caught up with at once, and what is written then comes`() async throws {
        try await TestJournal.provisioned { test, _ in
            let (reader, book) = test.read()
            _ = try await book.entries.values(2)
            #expect(try await book.besides.values(1) == [.caughtUp])
            try await test.write("one")
            _ = try await book.records.values(1)
            reader.cancel()
        }
    }

    @Test func `Reading begins where it is asked to, and ends when it is cancelled`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...10 { try await test.write("\(number)") }
            let (reader, book) = test.read(from: 8)
            _ = try await book.records.values(3)
            #expect(book.sequences == [8, 9, 10])
            reader.cancel()
            let (second, other) = test.read(from: 11)
            try await test.write("11")
            #expect(try await other.records.values(1).map(\.sequence) == [11])
            #expect(book.sequences == [8, 9, 10])
            second.cancel()
        }
    }

    @Test func `Messages that are no records of a room are skipped, and their authors are told`() async throws {
        try await TestJournal.provisioned { test, _ in
            let told = Recorder<String>()
            try test.jetStream.connection.subscribe("ink.*.*.feedback.*") { message in
                let body = try? FeedbackMessage(decoding: message.copyPayload())
                guard case .rejected(let number, _, let rejection)? = body?.feedback else { return }
                told.append("\(message.subject) \(number ?? -1) \(rejection.code)")
            }
            _ = try await test.jetStream.publish([1], to: "ink.0.UPPER.in.anna")
            _ = try await test.jetStream.publish(Array(#"{"n":7,"a":2}"#.utf8), to: "ink.0.physics.in.Anna")
            _ = try await test.jetStream.publish(Array("{}".utf8), to: "ink.0.physics.ctl")
            try await test.write("one")
            let (reader, book) = test.read()
            #expect(try await book.records.values(1).map(\.sequence) == [4])
            #expect(test.journal.misaddressedCount == 2)
            let expected = ["ink.0.UPPER.feedback.anna -1 misaddressed", "ink.0.physics.feedback.Anna 7 misaddressed"]
            #expect(try await told.values(2) == expected)
            #expect(book.besides.values.allSatisfy { $0 == .caughtUp })
            reader.cancel()
        }
    }

    /// A message of a feature that a room may lack, and one with a fault.
    private static let misaddressed = [#"{"n":7,"a":5,"g":2}"#, #"{"n":7,"e":99,"d":[]}"#]

    /// What an author is told of a message to the room's partition by another number of partitions.
    private func told(_ message: String, _ nats: NATSConnection, among partitions: Int) async throws -> FeedbackMessage
    {
        let right = RoomAddress(root: "ink", room: try .physics, partitions: partitions)
        let old = RoomAddress(root: "ink", partition: 1 - right.partition, room: right.room)
        let anna = try #require(AuthorID("anna"))
        let told = Recorder<[UInt8]>()
        try nats.subscribe(old.subject(.feedback(anna))) { told.append($0.copyPayload()) }
        try nats.publish(Array(message.utf8), to: old.subject(.input(anna)), headers: ["Ink-Session": "s2"])
        return try FeedbackMessage(decoding: try #require(try await told.values(1).first))
    }

    private func expected(among partitions: Int) throws -> FeedbackMessage {
        let right = RoomAddress(root: "ink", room: try .physics, partitions: partitions)
        return FeedbackMessage(session: "s2", feedback: .rejected(number: 7, order: 0, .misaddressed(to: right)))
    }

    @Test(arguments: misaddressed)
    func `An author with an old address hears the new one and the number`(_ message: String) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { _, nats in
            let journal = JetStreamJournal(
                root: "ink", partitions: 2, settings: JournalSettings(), connection: nats, logger: .silent)
            for partition in 0...1 { _ = try await journal.provision(partition) }
            let readers = (0...1).map { journal.read($0, from: 1, now: MonotonicClock.now) { _ in } }
            let told = try await told(message, nats, among: 2)
            #expect(try told == expected(among: 2))
            for reader in readers { reader.cancel() }
        }
    }

    @Test(arguments: misaddressed)
    func `So does one whose messages no stream has`(_ message: String) async throws {
        try await NATSTestServer.withConnection { _, nats in
            let journal = VolatileJournal(root: "ink", partitions: 1, logger: .silent)
            try journal.read(from: nats, now: MonotonicClock.now) { _ in }
            let told = try await told(message, nats, among: 1)
            #expect(try told == expected(among: 1))
            #expect(journal.misaddressedCount == 1)
        }
    }

    @Test func `The records of one room up to the log's end`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...6 {
                let room = number % 2 == 0 ? "physics" : "latin"
                _ = try await test.jetStream.publish([UInt8(number)], to: "ink.0.\(room).in.anna")
            }
            test.journal.append(.close, room: try .physics)
            try await test.connection.flush()
            let records = try await test.journal.records(of: .physics, after: 2)
            #expect(records.map(\.sequence) == [4, 6, 7])
            #expect(try await test.journal.records(of: .physics, after: 7).isEmpty)
        }
    }

    @Test func `Records that went before they were read are told of`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...5 { try await test.write("\(number)") }
            try await test.connection.purge("INK_LOG_0", before: 4)
            let (reader, book) = test.read(from: 2)
            _ = try await book.records.values(2)
            #expect(book.sequences == [4, 5])
            #expect(book.entries.values.contains(.missing(2...3)))
            reader.cancel()
        }
    }

    @Test func `No author can claim a decision beforehand, for it has no name`() async throws {
        try await TestJournal.provisioned { test, _ in
            for _ in 1...2 { test.journal.append(.epoch(1), room: try .physics) }
            try await test.write("after", id: "a")
            #expect(try await test.write("after", id: "a").isDuplicate)
            let (reader, book) = test.read()
            let records = try await book.records.values(3)
            let decisions = records.count { if case .control(.epoch(1)) = $0.content { true } else { false } }
            #expect(decisions == 2)
            reader.cancel()
        }
    }

    @Test func `The log's clock is known within 50 ms before the first record`() async throws {
        try await TestJournal.provisioned { test, _ in
            try await test.write("one")
            let (reader, book) = test.read()
            let record = try #require(try await book.records.values(1).first)
            guard case .clock(let ahead) = book.entries.values[0] else { throw Unexpected("the clock comes first") }
            // In the rooms' clock the record was logged a moment ago.
            let loggedAt = record.loggedAt + (.zero - ahead)
            let age = MonotonicClock.now() - loggedAt
            #expect(age > .milliseconds(-50))
            let written = MonotonicClock.now()
            try await test.write("two")
            let second = try await book.records.values(2)[1]
            let distance = (second.loggedAt + (.zero - ahead)) - written
            #expect(distance > .milliseconds(-50) && distance < .seconds(5))
            reader.cancel()
        }
    }
}

@Suite struct ClockOffsetEstimatorTests {
    private let ms: Int64 = 1_000_000

    @Test func `The server's time lies between question and answer`() {
        var clock = ClockOffsetEstimator()
        let ahead = clock.answer(serverTime: 1_000 * ms, requestedAt: 90 * ms, answeredAt: 110 * ms)
        #expect(ahead == .milliseconds(900))
        // A slower second answer changes nothing.
        #expect(clock.answer(serverTime: 2_000 * ms, requestedAt: 1_050 * ms, answeredAt: 1_450 * ms) == nil)
    }

    @Test func `A record cannot have come before it was logged`() {
        var clock = ClockOffsetEstimator()
        _ = clock.answer(serverTime: 1_000 * ms, requestedAt: 0, answeredAt: 200 * ms)
        // 900 ms is known; this record gives at least 950.
        #expect(clock.record(loggedAt: 1_300 * ms, receivedAt: 350 * ms) == .milliseconds(950))
        #expect(clock.record(loggedAt: 1_310 * ms, receivedAt: 350 * ms) == nil, "10 ms are no news")
        #expect(clock.record(loggedAt: 1_321 * ms, receivedAt: 350 * ms) == .milliseconds(971))
    }

    @Test func `Records that come late alone do not set the clock back, many on time do`() {
        var clock = ClockOffsetEstimator()
        _ = clock.answer(serverTime: 1_000 * ms, requestedAt: 0, answeredAt: 0)
        for number in 1...100 as ClosedRange<Int64> {
            let delay = number % 8 == 0 ? ms : 5_000 * ms
            #expect(clock.record(loggedAt: (1_000 + number) * ms, receivedAt: number * ms + delay) == nil)
        }
        var news: [Duration] = []
        for number in 101...200 as ClosedRange<Int64> {
            let ahead = clock.record(loggedAt: (700 + number) * ms, receivedAt: (number + number % 5) * ms)
            if let ahead { news.append(ahead) }
        }
        #expect(news == [.milliseconds(700)])
    }

    @Test func `With one record in ten on time the error is that of the first answer at the most`() {
        for var generator in TestSeed.generators(200) {
            let ahead = Int64.random(in: 0...2_000_000_000_000, using: &generator) * ms
            var clock = ClockOffsetEstimator()
            var now: Int64 = 0
            let trip = Int64.random(in: 0...100, using: &generator) * ms
            var known = clock.answer(
                serverTime: ahead + Int64.random(in: 0...trip, using: &generator), requestedAt: 0, answeredAt: trip)
            for number in 0..<200 {
                now += Int64.random(in: 1...1000, using: &generator) * ms
                let delay = Int64.random(in: 0...(number % 10 == 0 ? 5 : 500), using: &generator) * ms
                known = clock.record(loggedAt: now + ahead, receivedAt: now + delay) ?? known
            }
            let error = (known ?? .zero) - .nanoseconds(ahead)
            let bound = min(.nanoseconds(trip / 2), .milliseconds(5) + .nanoseconds(ClockOffsetEstimator.tolerance))
            #expect(error <= bound + .nanoseconds(ClockOffsetEstimator.tolerance), "seed \(generator.seed)")
            #expect(error >= .zero - bound - .nanoseconds(ClockOffsetEstimator.tolerance), "seed \(generator.seed)")
        }
    }
}
