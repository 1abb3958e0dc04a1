import StrokeWire
import Testing

@testable import LecternGateway

/// In which order a feed gives its events to event loops, and where large ones are compressed.
@Suite struct DeliveryQueueTests {
    private typealias Queue = DeliveryQueue<String>

    private func event(_ bytes: Int) -> StreamEvent { .wet(Array(repeating: UInt8(ascii: "x"), count: bytes)) }

    /// What the steps do: the sizes of events that are sent, the number behind `c` of what is to be compressed, readers.
    private func texts(_ steps: [Queue.Step]) -> [String] {
        steps.map { step in
            switch step {
            case .perform(.send(let event)), .perform(.reset(let event)): "\(event.size >> 10)"
            case .perform(.attach(let reader, _, _)), .perform(.refuse(let reader, _)): reader
            case .perform(.join): "join"
            case .compress(_, let number): "c\(number)"
            }
        }
    }

    private func compress(_ steps: [Queue.Step]) {
        for case .compress(let events, _) in steps {
            for event in events { event.compress() }
        }
    }

    @Test func `small events go out at once`() {
        var queue = Queue()
        #expect(texts(queue.add([.send(event(1 << 10)), .attach("li", [event(9 << 10)], after: 0)])) == ["1", "li"])
    }

    @Test func `events behind a large one wait in order until it is compressed`() {
        var queue = Queue()
        let first = queue.add([.send(event(1 << 10)), .send(event(100 << 10)), .send(event(2 << 10))])
        #expect(texts(first) == ["1", "c1"])
        #expect(texts(queue.add([.attach("li", [], after: 3), .send(event(200 << 10)), .send(event(3 << 10))])) == [])
        compress(first)
        let second = queue.compressed(1)
        #expect(texts(second) == ["100", "2", "li", "c2"])
        compress(second)
        #expect(texts(queue.compressed(1)) == [])
        #expect(texts(queue.compressed(2)) == ["200", "3"])
        #expect(texts(queue.add([.send(event(4 << 10))])) == ["4"])
    }

    @Test func `a reader's start is compressed first where it is large, and a join waits for nothing`() {
        var queue = Queue()
        let start = (0..<30).map { _ in event(5 << 10) }
        let steps = queue.add([.attach("li", start, after: 0)])
        #expect(texts(steps) == ["c1"])
        let ticket = FeedState<String>.Ticket(number: 1, isForReaders: true)
        #expect(texts(queue.add([.join(.init(), ticket)])) == ["join"])
        compress(steps)
        #expect(texts(queue.compressed(1)) == ["li"])
        // It is there already for the next one.
        #expect(texts(queue.add([.attach("ma", start, after: 0)])) == ["ma"])
    }

    @Test func `more than waits at most goes out as it is`() {
        var queue = Queue()
        #expect(texts(queue.add([.send(event(100 << 10))])) == ["c1"])
        #expect(texts(queue.add([.send(event(Queue.waitingBytes))])) == ["100", "\(Queue.waitingBytes >> 10)"])
        #expect(texts(queue.compressed(1)) == [])
        #expect(texts(queue.add([.send(event(1 << 10))])) == ["1"])
    }
}
