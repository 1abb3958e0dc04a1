import Testing

@testable import LecternClient

@Suite("A teacher's outbox")
struct OutboxTests {
    private func message(_ number: Int64, order: Int = 0, bytes: Int = 10) -> OutgoingMessage {
        OutgoingMessage(
            number: number, order: order, isStroke: true, bytes: Array(repeating: 0, count: bytes), due: .zero,
            isWithheld: false)
    }

    @Test("forgets the oldest operation beyond its number, and counts it")
    func operations() {
        var outbox = Outbox(maximumOperations: 3)
        for number in [1, 2, 2, 3, 4, 5] as [Int64] { outbox.keep(message(number)) }
        #expect(outbox.numbers == [3, 4, 5])
        #expect(outbox.forgotten == 2)
    }

    @Test("forgets the oldest operation beyond its bytes, but never the newest")
    func bytes() {
        var outbox = Outbox(maximumBytes: 100)
        outbox.keep(message(1, bytes: 60))
        outbox.keep(message(2, bytes: 40))
        #expect(outbox.forgotten == 0)
        outbox.keep(message(3, bytes: 1))
        #expect(outbox.numbers == [2, 3])
        outbox.keep(message(4, bytes: 500))
        #expect(outbox.numbers == [4])
        #expect(outbox.forgotten == 3)
        let wasThere = outbox.remove(4)
        #expect(wasThere)
        outbox.keep(message(5, bytes: 100))
        outbox.keep(message(6, bytes: 0))
        #expect(outbox.numbers == [5, 6])
    }

    @Test("queues each message once for sending again, and none that is answered")
    func resends() {
        var outbox = Outbox()
        var queue = ResendQueue()
        for number in [1, 2, 3] as [Int64] {
            outbox.keep(message(number))
            queue.add(message(number), attempt: 1)
            queue.add(message(number), attempt: 2)
        }
        _ = outbox.remove(1)
        var sent: [Int64] = []
        while let (next, attempt) = queue.first(in: outbox) {
            #expect(attempt == 1)
            sent.append(next.number)
            queue.removeFirst()
        }
        #expect(sent == [2, 3])
        #expect(queue.isEmpty)
        queue.add(message(2), attempt: 3)
        let again = queue.first(in: outbox)?.attempt
        #expect(again == 3)
    }
}
