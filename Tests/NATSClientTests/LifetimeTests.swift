import NATSTestServer
import Testing

@testable import NATSClient

@Suite struct LifetimeTests {
    /// Captured by the handlers, and freed when libnats has released the last context.
    private final class Kept: Sendable {}

    @Test func `After close no handler's context is alive, however often the connection was made`() async throws {
        try await NATSTestServer.with { server in
            weak var kept: Kept?
            do {
                let object = Kept()
                kept = object
                try await NATSConnection.with(server) { nats in
                    let states = nats.recordStates()
                    for number in 0..<10 {
                        let subscription = try nats.subscribe("s.\(number)") { _ in _ = object }
                        if number.isMultiple(of: 2) { subscription.unsubscribe() }
                    }
                    try await server.restart()
                    _ = try await states.values(2)
                    for number in 0..<10 { try nats.publish([0], to: "s.\(number)") }
                    try await nats.flush(timeout: .seconds(30))
                }
            }
            #expect(kept == nil)
        }
    }

    @Test func `Closing stops everything, once and for good`() async throws {
        try await NATSTestServer.with { server in
            let nats = NATSConnection(NATSSettings(server), logger: .silent)
            let states = nats.recordStates()
            try await nats.connect(within: .seconds(30))
            let subscription = try nats.subscribe("a") { _ in }
            await nats.close()
            await nats.close()
            subscription.unsubscribe()
            #expect(nats.state == .closed)
            #expect(states.values == [.connected, .closed])
            #expect(throws: NATSError.closed) { try nats.publish([], to: "a") }
            #expect(throws: NATSError.closed) { _ = try nats.subscribe("a") { _ in } }
            await #expect(throws: NATSError.closed) { try await nats.flush() }
            await #expect(throws: NATSError.closed) { try await nats.request(to: "a") }
            await #expect(throws: NATSError.closed) { try await nats.connect() }
        }
    }

    @Test func `A connection that never was can be closed`() async {
        let nats = NATSConnection(NATSSettings(url: "nats://127.0.0.1:1"), logger: .silent)
        await nats.close()
        #expect(nats.state == .closed)
    }

    @Test func `Closing sends what was published before`() async throws {
        try await NATSTestServer.withConnection { server, receiver in
            let seen = Recorder<[UInt8]>()
            _ = try receiver.subscribe("last") { seen.append($0.copyPayload()) }
            try await receiver.flush(timeout: .seconds(30))
            try await NATSConnection.with(server) { sender in
                for value in 0..<100 as Range<UInt8> { try sender.publish([value], to: "last") }
            }
            #expect(try await seen.values(100).map { $0[0] } == Array(0..<100))
        }
    }

    @Test func `Draining lets handlers finish what has arrived, and answer it`() async throws {
        try await NATSTestServer.withConnection { server, client in
            let answers = Recorder<[UInt8]>()
            _ = try client.subscribe("answer") { answers.append($0.copyPayload()) }
            try await client.flush(timeout: .seconds(30))
            let nats = NATSConnection(NATSSettings(server), logger: .silent)
            try await nats.connect(within: .seconds(30))
            _ = try nats.subscribe("work") { try? nats.publish($0.copyPayload(), to: "answer") }
            for value in 0..<200 as Range<UInt8> { try nats.publish([value], to: "work") }
            try await nats.flush(timeout: .seconds(30))
            await nats.drain(timeout: .seconds(30))
            #expect(nats.state == .closed)
            #expect(try await answers.values(200).map { $0[0] } == Array(0..<200))
        }
    }
}

@Suite struct SubscriptionTableTests {
    private final class Key {}

    private func pointer(_ value: Int) throws -> OpaquePointer {
        try #require(OpaquePointer(bitPattern: value))
    }

    @Test func `A session is quiet after the close and the last completion, in any order`() throws {
        let (first, second) = (Key(), Key())
        var table = SubscriptionTable()
        let quietWithoutAny = table.close()
        #expect(quietWithoutAny)
        table = SubscriptionTable()
        let early = table.complete()  // before `add`
        #expect(!early)
        table.add(try pointer(1), for: ObjectIdentifier(first), completes: true)
        table.add(try pointer(2), for: ObjectIdentifier(second), completes: true)
        let quietAtClose = table.close()
        #expect(!quietAtClose)
        let quietAfterTheLast = table.complete()
        #expect(quietAfterTheLast)
    }

    @Test func `Retired objects wait for a sweep, which is asked for once when there are many`() throws {
        var table = SubscriptionTable()
        var sweeps = 0
        for value in 1...SubscriptionTable.maxRetired + 5 {
            let key = Key()
            table.add(try pointer(value), for: ObjectIdentifier(key), completes: true)
            let raw = table.remove(ObjectIdentifier(key))
            if table.retire(try #require(raw)) { sweeps += 1 }
            let again = table.remove(ObjectIdentifier(key))
            #expect(again == nil)
        }
        #expect(sweeps == 1)
        let retired = table.takeRetired()
        #expect(retired.count == SubscriptionTable.maxRetired + 5)
        #expect(table.all.isEmpty)
    }

    @Test func `A sweep does not take a subscription that is still being ended in libnats`() throws {
        var table = SubscriptionTable()
        let key = Key()
        table.add(try pointer(1), for: ObjectIdentifier(key), completes: true)
        let removed = table.remove(ObjectIdentifier(key))
        let raw = try #require(removed)
        let early = table.takeRetired()
        #expect(early.isEmpty)
        // It is destroyed at the end of the connection all the same.
        #expect(table.all == [raw])
        _ = table.retire(raw)
        let late = table.takeRetired()
        #expect(late == [raw])
    }

    @Test func `A sweep that failed is asked for again with the next subscription that is retired`() throws {
        var table = SubscriptionTable()
        var value = 0
        func retire() throws -> Bool {
            let key = Key()
            value += 1
            table.add(try pointer(value), for: ObjectIdentifier(key), completes: true)
            let raw = table.remove(ObjectIdentifier(key))
            return table.retire(try #require(raw))
        }
        var asked = false
        while !asked { asked = try retire() }
        let taken = table.takeRetired()
        // Other subscriptions end while the sweep waits for the server.
        for _ in 1...3 {
            let early = try retire()
            #expect(!early)
        }
        table.putBack(taken)
        let again = try retire()
        #expect(again)
        #expect(table.all.count == SubscriptionTable.maxRetired + 4)
    }
}
