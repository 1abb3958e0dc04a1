import Dispatch
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite struct DirectDeliveryTests {
    @Test(arguments: TestSeed.choose(3))
    func `Handlers on the connection's thread get every message of a subscription, in order`(
        seed: UInt64
    ) async throws {
        let count = 20_000
        try await NATSTestServer.withConnection { server, nats in
            let arrivals = Recorder<(String, Int)>()
            for subject in ["a", "b.>", "c.*"] {
                _ = try nats.subscribe(subject, on: .connection) { message in
                    arrivals.append((subject, message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }))
                }
            }
            var random = SeededGenerator(seed: seed)
            var sent: [String: [Int]] = [:]
            for number in 0..<count {
                let (subject, pattern) =
                    [("a", "a"), ("b.x.y", "b.>"), ("c.z", "c.*")].randomElement(using: &random) ?? ("a", "a")
                sent[pattern, default: []].append(number)
                try withUnsafeBytes(of: number) { try nats.publish($0, to: subject) }
            }
            let order = try await arrivals.values(count)
            for (pattern, numbers) in sent {
                #expect(order.filter { $0.0 == pattern }.map(\.1) == numbers, "seed \(seed)")
            }
        }
    }

    @Test func `Draining lets handlers on the connection's thread finish what was published before`() async throws {
        try await NATSTestServer.withConnection { server, sender in
            let arrivals = Recorder<Int>()
            let receiver = NATSConnection(NATSSettings(server), logger: .silent)
            try await receiver.connect(within: .seconds(30))
            try receiver.subscribe("flood", on: .connection) { arrivals.append($0.payloadSize) }
            try await receiver.flush()
            for size in 1...2000 { try sender.publish([UInt8](repeating: 1, count: size), to: "flood") }
            try await sender.flush()
            await receiver.drain(timeout: .seconds(30))
            #expect(arrivals.values == Array(1...2000))
        }
    }
}

@Suite struct BatchTests {
    private static func headers(_ fields: [(String, String)]) -> HeaderBuffer {
        var buffer = HeaderBuffer()
        for (name, value) in fields { buffer.append(HeaderBuffer.Name(name)) { $0.append(contentsOf: value.utf8) } }
        return buffer
    }

    @Test func `Messages of a batch arrive in order, with their headers`() async throws {
        let count = 5000
        try await NATSTestServer.withConnection { server, nats in
            let arrivals = Recorder<(Int, String?)>()
            try nats.subscribe("batch") { message in arrivals.append((message.payloadSize, message.header("N"))) }
            try await nats.flush()
            let subject = try PublishSubject("batch")
            let publisher = BatchPublisher(nats)
            for number in 1...count {
                let headers =
                    number.isMultiple(of: 2) ? Self.headers([("N", "\(number)"), ("M", "x")]) : HeaderBuffer()
                try publisher.publish(
                    [UInt8](repeating: 1, count: number), to: subject, headers: headers, on: nats.generation)
                if number.isMultiple(of: 700) { publisher.end() }
            }
            publisher.end()
            let seen = try await arrivals.values(count)
            #expect(seen.map(\.0) == Array(1...count))
            #expect(seen.map(\.1) == (1...count).map { $0.isMultiple(of: 2) ? "\($0)" : nil })
        }
    }

    @Test func `Batches of several threads and single messages all arrive`() async throws {
        let (threads, count) = (4, 3000)
        try await NATSTestServer.withConnection { server, nats in
            let arrivals = Recorder<Int>()
            try nats.subscribe("batch.*", on: .connection) { arrivals.append($0.payloadSize) }
            try await nats.flush()
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                guard let subject = try? PublishSubject("batch.\(thread)") else { return }
                let publisher = BatchPublisher(nats)
                for number in 0..<count {
                    if thread == 0 {
                        try? nats.publish([1], to: "batch.single")
                    } else {
                        try? publisher.publish([1, 2], to: subject, on: nats.generation)
                        if number.isMultiple(of: thread * 10) { publisher.end() }
                    }
                }
                publisher.end()
            }
            let seen = try await arrivals.values(threads * count)
            #expect(seen.count { $0 == 1 } == count)
            #expect(nats.generation == 1)
        }
    }

    @Test func `An open batch holds up no other message`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let arrivals = Recorder<Int>()
            try nats.subscribe("x") { arrivals.append($0.payloadSize) }
            try await nats.flush()
            let publisher = BatchPublisher(nats)
            try publisher.publish([1], to: try PublishSubject("x"), on: nats.generation)
            try nats.publish([1, 2], to: "x")
            #expect(try await arrivals.values(1) == [2])
            publisher.end()
            #expect(try await arrivals.values(2) == [2, 1])
        }
    }

    @Test func `A batch publishes on the server connection that it was asked to, or not at all`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let publisher = BatchPublisher(nats)
            let subject = try PublishSubject("x")
            #expect(throws: NATSError.disconnected) { try publisher.publish([1], to: subject, on: 7) }
            let large = [UInt8](repeating: 0, count: nats.maxPayload + 1)
            #expect(throws: NATSError.payloadTooLarge(size: large.count, limit: nats.maxPayload)) {
                try publisher.publish(large, to: subject, on: nats.generation)
            }
            try publisher.publish([1], to: subject, on: nats.generation)
            publisher.end()
        }
        #expect(throws: NATSError.invalidSubject("a..b")) { try PublishSubject("a..b") }
        #expect(throws: NATSError.invalidSubject("a.*")) { try PublishSubject("a.*") }
    }
}
