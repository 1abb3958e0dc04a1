// The client for NATS beside a real nats-server of each test: what comes, in which order, and what remains of it when the
// server is killed, paused or overtaken. Limits and states that need no server are tested alone.

import Dispatch
import Logging
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite struct PublishSubscribeTests {
    private struct Seen: Equatable {
        var subject: String
        var reply: String?
        var payload: [UInt8]
        var index: String?
    }

    @Test func `A message arrives with subject, body, reply subject and headers`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let seen = Recorder<Seen>()
            _ = try nats.subscribe("ink.*.>") { message in
                seen.append(
                    Seen(
                        subject: message.subject, reply: message.reply, payload: message.copyPayload(),
                        index: message.header("Ink-Index")))
            }
            try nats.publish([1, 2, 3], to: "ink.0.room")
            try nats.publish([], to: "ink.0.room.out", reply: "_INBOX.a", headers: ["Ink-Index": "41"])
            #expect(
                try await seen.values(2) == [
                    Seen(subject: "ink.0.room", reply: nil, payload: [1, 2, 3], index: nil),
                    Seen(subject: "ink.0.room.out", reply: "_INBOX.a", payload: [], index: "41"),
                ])
        }
    }

    @Test func `A message lends its body and subject without a copy`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let sums = Recorder<[Int]>()
            _ = try nats.subscribe("lend") { message in
                let sum = message.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
                sums.append([sum, message.withSubject { $0.count }, message.payloadSize])
            }
            try nats.publish([1, 2, 3, 4], to: "lend")
            #expect(try await sums.values(1) == [[10, 4, 4]])
        }
    }

    @Test func `Several values of one header arrive`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let headers: NATSHeaders = ["Trace": "a", "Trace": "b"]
            _ = try nats.subscribe("echo") { message in
                guard let reply = message.reply else { return }
                try? nats.publish(message.copyPayload(), to: reply, headers: headers)
            }
            let reply = try await nats.request([5], to: "echo", timeout: .seconds(30))
            #expect(reply.headers.fields.map(\.value) == ["a", "b"])
            #expect(reply.payload == [5])
        }
    }

    @Test func `A queue group shares messages, each to one member`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let seen = Recorder<[UInt8]>()
            for _ in 0..<3 { _ = try nats.subscribe("work", queue: "q") { seen.append($0.copyPayload()) } }
            for value in 0..<50 as Range<UInt8> { try nats.publish([value], to: "work") }
            #expect(try await seen.values(50).count == 50)
            try await nats.flush(timeout: .seconds(30))
            #expect(Set(seen.values).count == 50)
        }
    }

    @Test func `A message that the protocol cannot carry is refused, and the connection stays`() async throws {
        try await NATSTestServer.withConnection(configuration: "max_payload: 1000") { server, nats in
            #expect(nats.maxPayload == 1000)
            #expect(throws: NATSError.invalidSubject("a b")) { try nats.publish([], to: "a b") }
            #expect(throws: NATSError.invalidSubject("a.*")) { try nats.publish([], to: "a.*") }
            #expect(throws: NATSError.invalidSubject("")) { try nats.publish([], to: "a", reply: "") }
            #expect(throws: NATSError.invalidSubject("a..b")) { _ = try nats.subscribe("a..b") { _ in } }
            #expect(throws: NATSError.invalidHeader("A")) { try nats.publish([], to: "a", headers: ["A": " "]) }
            #expect(throws: NATSError.payloadTooLarge(size: 1001, limit: 1000)) {
                try nats.publish([UInt8](repeating: 0, count: 1001), to: "a")
            }
            #expect(throws: NATSError.payloadTooLarge(size: 999, limit: 1000)) {
                try nats.publish([UInt8](repeating: 0, count: 999), to: "a", headers: ["A": "b"])
            }
            try await nats.flush(timeout: .seconds(30))
            #expect(nats.state == .connected)
        }
    }

    @Test(arguments: [DeliveryThread.shared, .connection])
    func `After unsubscribe nothing new arrives`(thread: DeliveryThread) async throws {
        try await NATSTestServer.withConnection { server, nats in
            let (gone, kept) = (Recorder<[UInt8]>(), Recorder<[UInt8]>())
            let subscription = try nats.subscribe("news", on: thread) { gone.append($0.copyPayload()) }
            _ = try nats.subscribe("news", on: thread) { kept.append($0.copyPayload()) }
            try nats.publish([1], to: "news")
            _ = try await gone.values(1)
            subscription.unsubscribe()
            subscription.unsubscribe()
            for _ in 0..<100 { try nats.publish([2], to: "news") }
            _ = try await kept.values(101)
            #expect(gone.values == [[1]])
        }
    }

    @Test(arguments: [DeliveryThread.shared, .connection])
    func `Subscriptions that come and go under traffic get what is theirs, and cost nothing that stays`(
        thread: DeliveryThread
    ) async throws {
        try await NATSTestServer.withConnection { server, nats in
            let steady = Recorder<Int>()
            _ = try nats.subscribe("traffic", on: thread) { steady.append($0.payloadSize) }
            for round in 1...300 {
                let own = Recorder<Int>()
                let subscription = try nats.subscribe("traffic", on: thread) { own.append($0.payloadSize) }
                try nats.publish([UInt8](repeating: 0, count: round), to: "traffic")
                // Some are ended before what is theirs has come.
                if round.isMultiple(of: 2) { #expect(try await own.values(1) == [round]) }
                subscription.unsubscribe()
            }
            #expect(try await steady.values(300) == Array(1...300))
        }
    }
}

@Suite struct ConfirmationTests {
    @Test func `Confirmed output has reached the server, in the generation that is reported`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            #expect(nats.generation == 1)
            let states = nats.recordStates()
            // Many concurrent callers, each after a message of its own.
            try await concurrently(0..<100) { _ in
                try nats.publish([1], to: "a")
                #expect(try await nats.confirmPublished(timeout: .seconds(30)) == 1)
            }
            await server.kill()
            _ = try await states.values(1)
            await #expect(throws: NATSError.disconnected) { try await nats.confirmPublished() }
            try await server.restart()
            _ = try await states.values(2)
            #expect(try await nats.confirmPublished(timeout: .seconds(30)) == nats.generation)
            #expect(nats.generation >= 2)
        }
    }

    @Test func `A server that stands still confirms nothing, and the wait ends with the connection`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.pingInterval = .seconds(600) }) { nats in
                await server.pause()
                try nats.publish([1], to: "a")
                await #expect(throws: NATSError.timeout) { try await nats.confirmPublished(timeout: .milliseconds(50)) }
                let confirmation = Task { try await nats.confirmPublished(timeout: .seconds(600)) }
                await server.kill()
                await #expect(throws: NATSError.disconnected) { try await confirmation.value }
            }
        }
    }
}

@Suite struct OrderTests {
    @Test(arguments: TestSeed.choose(3))
    func `Handlers run in the order of arrival, whatever their subscriptions`(seed: UInt64) async throws {
        let count = 20_000
        try await NATSTestServer.withConnection { server, nats in
            let arrivals = Recorder<Int>()
            for subject in ["a", "b.>", "c.*", "d"] {
                _ = try nats.subscribe(subject) { message in
                    arrivals.append(message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) })
                }
            }
            var random = SeededGenerator(seed: seed)
            for number in 0..<count {
                let subject = ["a", "b.x.y", "c.z", "d"].randomElement(using: &random) ?? "a"
                try withUnsafeBytes(of: number) { try nats.publish($0, to: subject) }
            }
            let order = try await arrivals.values(count)
            #expect(order == Array(0..<count), "seed \(seed)")
        }
    }
}

@Suite struct SlowHandlerTests {
    @Test func `Messages that a slow handler has no room for are dropped and counted, the rest arrives`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.maxPendingMessages = 10 }) { nats in
                let seen = Recorder<UInt8>()
                let started = Recorder<Void>()
                let gate = DispatchSemaphore(value: 0)
                let subscription = try nats.subscribe("flood") { message in
                    started.append(())
                    if seen.values.isEmpty { gate.wait() }
                    seen.append(message.withUnsafeBytes { $0[0] })
                }
                try nats.publish([0], to: "flood")
                _ = try await started.values(1)
                for value in 1...30 as ClosedRange<UInt8> { try nats.publish([value], to: "flood") }
                try await nats.flush(timeout: .seconds(30))
                #expect(nats.droppedMessages == 20)
                gate.signal()
                #expect(try await seen.values(11) == Array(0...10))
                subscription.unsubscribe()
                #expect(nats.droppedMessages == 20)
            }
        }
    }

    @Test func `Bytes are bounded, too, and what an ended subscription dropped stays counted`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.maxPendingBytes = 10_000 }) { nats in
                let started = Recorder<Void>()
                let gate = DispatchSemaphore(value: 0)
                let subscription = try nats.subscribe("flood") { _ in
                    started.append(())
                    if started.values.count == 1 { gate.wait() }
                }
                try nats.publish([0], to: "flood")
                _ = try await started.values(1)
                for _ in 0..<30 { try nats.publish([UInt8](repeating: 0, count: 1000), to: "flood") }
                try await nats.flush(timeout: .seconds(30))
                subscription.unsubscribe()
                #expect(nats.droppedMessages == 20)
                gate.signal()
            }
        }
    }
}

@Suite struct DroppedMessageReportTests {
    @Test func `A report that comes after the end of its connection is survived, one before names the subject`()
        async throws
    {
        try await NATSTestServer.with { server in
            let subjects = Recorder<String>()
            let gate = DispatchSemaphore(value: 0)
            // Blocks the reporting thread, once.
            let logger = Logger.calling { event in
                guard "\(event.message)".contains("dropped") else { return }
                let isFirst = subjects.values.isEmpty
                subjects.append(event.metadata?["subject"].map { "\($0)" } ?? "")
                if isFirst { gate.wait() }
            }
            var settings = NATSSettings(server)
            settings.maxPendingMessages = 1
            try await flooded(settings, logger, ["first", "late"]) { _ = try await subjects.values(1) }
            gate.signal()
            // Reports are made one after the other: the late one comes before this one.
            try await flooded(settings, logger, ["last"]) { _ = try await subjects.values(2) }
            #expect(Set(subjects.values) == ["first", "last"])
        }
    }

    /// Makes a connection that drops messages on these subjects, one after the other, and closes it after the body.
    private func flooded(
        _ settings: NATSSettings, _ logger: Logger, _ subjects: [String], _ body: () async throws -> Void
    ) async throws {
        let nats = NATSConnection(settings, logger: logger)
        try await nats.connect(within: .seconds(30))
        let slow = DispatchSemaphore(value: 0)
        for subject in subjects {
            _ = try nats.subscribe(subject) { _ in slow.wait() }
            for _ in 0..<5 { try nats.publish([0], to: subject) }
            try await nats.flush(timeout: .seconds(30))
        }
        try await body()
        for _ in 0..<5 * subjects.count { slow.signal() }
        await nats.close()
    }
}
