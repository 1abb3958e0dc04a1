import Testing

@testable import LecternClient

@Suite("A teacher's outbox")
struct OutboxTests {
    private func message(_ number: Int64, order: Int = 0, bytes: Int = 10) -> OutgoingMessage {
        OutgoingMessage(
            number: number, order: order, isStroke: true, bytes: Array(repeating: 0, count: bytes), due: .zero,
            isWithheld: false)
    }

    @Test("is full at so many operations, but not for more of one that it has")
    func operations() {
        var outbox = Outbox(maximumOperations: 3)
        for number in [1, 2, 2, 3] as [Int64] { outbox.keep(message(number)) }
        #expect(!outbox.hasRoom(for: message(4)))
        #expect(outbox.hasRoom(for: message(3, order: 1)))
        let wasThere = outbox.remove(2) != nil
        #expect(wasThere)
        #expect(outbox.hasRoom(for: message(4)))
    }

    @Test("is full at so many bytes, but never for a single message")
    func bytes() {
        var outbox = Outbox(maximumBytes: 100)
        #expect(outbox.hasRoom(for: message(1, bytes: 500)))
        outbox.keep(message(1, bytes: 60))
        // The same once more takes nothing, another one in its place what it is larger.
        outbox.keep(message(1, bytes: 60))
        outbox.keep(message(1, bytes: 70))
        #expect(outbox.hasRoom(for: message(2, bytes: 30)))
        #expect(!outbox.hasRoom(for: message(2, bytes: 31)))
        _ = outbox.remove(1)
        #expect(outbox.hasRoom(for: message(2, bytes: 100)))
    }

    @Test("queues each message once for sending again, and none that has arrived unless it is wanted")
    func resends() {
        var outbox = Outbox()
        var queue = ResendQueue()
        for number in [1, 2, 3, 4] as [Int64] {
            outbox.keep(message(number))
            queue.add(message(number).key, isWanted: false)
            queue.add(message(number).key, isWanted: number == 4)
        }
        _ = outbox.remove(1)
        for number in [3, 4] as [Int64] {
            let isNews = outbox.acknowledge(Receipt(key: message(number).key, generation: 0))
            #expect(isNews)
        }
        var sent: [Int64] = []
        while let next = queue.first(in: outbox) {
            sent.append(next.number)
            queue.removeFirst()
        }
        #expect(sent == [2, 4])
        #expect(queue.isEmpty)
    }
}
