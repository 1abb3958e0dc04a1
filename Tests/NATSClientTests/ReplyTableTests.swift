import TestSupport
import Testing

@testable import NATSClient

@Suite struct ReplyTableTests {
    private func part(_ number: String, of request: UInt64, in table: ReplyTable, bytes: Int) -> NATSReply {
        NATSReply(
            subject: table.subject(request), payload: [UInt8](repeating: 7, count: bytes), headers: ["Ink-Part": number]
        )
    }

    private func waiting(_ table: ReplyTable) throws -> (number: UInt64, outcome: ReplyTable.Outcome) {
        try table.add(.parts(PartAssembly(maxBytes: ReplyCollector.maxBytes)), to: "join")
    }

    @Test func `Requests whose replies are too large together fail alone, and give back what they held`() async throws {
        let table = ReplyTable()
        let size = ReplyTable.maxBytes / 8
        let requests = try (0..<8).map { _ in try waiting(table) }
        for request in requests {
            table.receive(part("1/2", of: request.number, in: table, bytes: size), for: request.number)
        }
        // Seven parts of 32 MiB fit into 256 MiB with their overhead, the eighth does not.
        #expect(requests.map(\.outcome.isFulfilled) == [false, false, false, false, false, false, false, true])
        #expect(await requests[7].outcome.value() == .failure(.tooManyRequests))

        for request in requests.prefix(2) { table.remove(request.number) }
        let next = try waiting(table)
        table.receive(part("1/2", of: next.number, in: table, bytes: size), for: next.number)
        #expect(!next.outcome.isFulfilled)

        table.failAll(.disconnected)
        let last = try waiting(table)
        for number in 1...2 {
            table.receive(part("\(number)/2", of: last.number, in: table, bytes: size), for: last.number)
        }
        #expect(try await last.outcome.value().get().map(\.payload.count) == [size, size])
    }
}

@Suite struct ReplyCollectorTests {
    @Test func `A malformed part fails the request`() {
        var collector = ReplyCollector.parts(PartAssembly(maxBytes: 10))
        let malformed = NATSReply(subject: "s", payload: [], headers: ["Ink-Part": "x"])
        let outcome = collector.receive(malformed)
        #expect(outcome == .failure(.malformedReply("Ink-Part: x")))
    }

    @Test func `The bytes that a request holds grow with each part, and a repeat does not count`() throws {
        var collector = ReplyCollector.parts(PartAssembly(maxBytes: 10_000))
        let part = NATSReply(subject: "s", payload: [UInt8](repeating: 7, count: 1000), headers: ["Ink-Part": "1/3"])
        _ = collector.receive(part)
        let once = collector.byteCount
        #expect(once >= 1000)
        _ = collector.receive(part)
        #expect(collector.byteCount == once)
    }
}

@Suite struct PartAssemblyTests {
    private func part(_ number: String?, _ payload: [UInt8] = []) -> NATSReply {
        NATSReply(subject: "_INBOX.x.1", payload: payload, headers: number.map { ["Ink-Part": $0] } ?? [:])
    }

    @Test(arguments: TestSeed.choose(50))
    func `Parts in any order, some of them repeated, give the body back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let body = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let count = Int.random(in: 1...12, using: &random)
        let cuts = [0] + (1..<count).map { _ in Int.random(in: 0...body.count, using: &random) }.sorted() + [body.count]
        let parts = (1...count).map { part("\($0)/\(count)", Array(body[cuts[$0 - 1]..<cuts[$0]])) }
        let arrivals = (parts + parts.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
        var assembly = PartAssembly(maxBytes: body.count)
        var whole: NATSReply?
        var seen: Set<String> = []
        for arrival in arrivals where whole == nil {
            whole = try assembly.receive(arrival).flatMap(PartAssembly.join)
            seen.insert(arrival.header("Ink-Part") ?? "")
            #expect((whole != nil) == (seen.count == count), "seed \(seed)")
        }
        #expect(whole?.payload == body, "seed \(seed)")
    }

    @Test(arguments: [
        "", "1", "1/", "/1", "0/1", "2/1", "-1/3", "1/0", "a/b", "1/2/3", "1/5000", "1/99999999999999999999",
    ])
    func `A part number that says nothing is an error`(_ number: String) {
        var assembly = PartAssembly(maxBytes: 100)
        #expect(throws: NATSError.self) { try assembly.receive(part(number)) }
    }

    @Test func `Parts of another count do not mix in`() throws {
        var assembly = PartAssembly(maxBytes: 100)
        let wholes = try [part("1/2", [1]), part("2/3", [9]), part("2/2", [2])].map {
            try assembly.receive($0).flatMap(PartAssembly.join)?.payload
        }
        #expect(wholes == [nil, nil, [1, 2]])
    }

    @Test func `More bytes than allowed are an error`() throws {
        var assembly = PartAssembly(maxBytes: 3)
        _ = try assembly.receive(part("1/2", [1, 2]))
        #expect(throws: NATSError.replyTooLarge(limit: 3)) { try assembly.receive(part("2/2", [3, 4])) }
    }

    @Test func `A single part of very many occupies little`() throws {
        var assembly = PartAssembly(maxBytes: 100)
        _ = try assembly.receive(part("1/4096", [1]))
        #expect(assembly.byteCount < 1024)
    }

    private func joined(_ replies: [NATSReply]) -> [NATSReply] {
        var joiner = PartJoiner()
        return replies.compactMap { joiner.receive($0) }
    }

    @Test func `Parts of several services find together however they interleave`() {
        for var random in TestSeed.generators(50) {
            // Service i sends i parts; the part of service 1 has no number.
            let bodies = (1...5).map { service in Array(repeating: UInt8(service), count: 10 * service) }
            var queues = bodies.enumerated().map { service, body in
                service == 0
                    ? [part(nil, body)][...]
                    : (0...service).map { part("\($0 + 1)/\(service + 1)", Array(body[$0 * 10..<($0 + 1) * 10])) }[...]
            }
            var replies: [NATSReply] = []
            while let next = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
                replies.append(queues[next].removeFirst())
            }
            let joined = joined(replies).map(\.payload)
            #expect(joined.sorted { $0.count < $1.count } == bodies, "seed \(random.seed)")
        }
    }

    @Test func `Services with as many parts each, one after the other, do not mix`() {
        let replies = [part("1/2", [1]), part("2/2", [2]), part("1/2", [3]), part("2/2", [4])]
        #expect(joined(replies).map(\.payload) == [[1, 2], [3, 4]])
    }

    @Test(arguments: ["0/1", "2/1", "1/2", "2/2", "-1/1", "1/0", "1", "a/b", "1/1/1", "", "9223372036854775808/1"])
    func `Incomplete replies and senseless part numbers are left out of those of many`(_ number: String) {
        #expect(joined([part(number, [1])]).isEmpty)
    }
}

@Suite struct PromiseTests {
    @Test func `The first result stays`() async throws {
        let promise = Promise<Int>()
        promise.fulfil(.success(1))
        promise.fulfil(.success(2))
        #expect(try await promise.value().get() == 1)
        #expect(try await promise.value(within: .seconds(10)).get() == 1)
    }

    @Test func `All who wait get the result`() async throws {
        let promise = Promise<Int>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await promise.value(within: .seconds(30)).get() } }
            group.addTask {
                promise.fulfil(.success(5))
                return 5
            }
            for try await value in group { #expect(value == 5) }
        }
    }

    @Test func `A wait that reaches its limit ends alone`() async throws {
        let promise = Promise<Int>()
        #expect(await promise.value(within: .milliseconds(1)) == .failure(.timeout))
        promise.fulfil(.success(3))
        #expect(try await promise.value().get() == 3)
    }

    @Test(.timeLimit(.minutes(4))) func `A limit that is over before the wait begins ends it all the same`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5_000 { #expect(await Promise<Int>().value(within: .zero) == .failure(.timeout)) }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `A cancelled task waits no longer`(beforeItBegins: Bool) async {
        let promise = Promise<Int>()
        let waiting = Promise<Void>()
        let task = Task {
            if beforeItBegins { _ = await waiting.value() }
            return await promise.value()
        }
        task.cancel()
        waiting.fulfil(.success(()))
        #expect(await task.value == .failure(.cancelled))
    }
}
