import Testing

@testable import NATSClient

@Suite struct SubscriptionTableTests {
    private final class Key {}

    private func pointer(_ value: Int) throws -> OpaquePointer {
        try #require(OpaquePointer(bitPattern: value))
    }

    @Test func `A session is quiet after the close and the last completion, in any order`() throws {
        let (first, second) = (Key(), Key())
        var table = SubscriptionTable()
        let early = table.complete()  // before `add`
        #expect(!early)
        table.add(try pointer(1), for: ObjectIdentifier(first), completes: true)
        table.add(try pointer(2), for: ObjectIdentifier(second), completes: true)
        let quietAtClose = table.close()
        #expect(!quietAtClose)
        let quietAfterTheLast = table.complete()
        #expect(quietAfterTheLast)
    }

    @Test func `A session without subscriptions is quiet at once`() {
        var table = SubscriptionTable()
        let quiet = table.close()
        #expect(quiet)
    }

    @Test func `What was retired waits for a sweep, which is asked for once when there are many`() throws {
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
