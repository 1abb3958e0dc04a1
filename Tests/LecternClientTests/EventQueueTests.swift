import Testing

@testable import LecternClient

@Suite("The queue of what happens outside", .timeLimit(.minutes(1)))
struct EventQueueTests {
    @Test("gives events in order, from any thread")
    func order() async {
        let queue = EventQueue<Int>()
        var reader = queue.reader()
        Task.detached { for number in 0..<1000 { queue.put(number) } }
        for number in 0..<1000 {
            let event = await reader.next(until: nil)
            #expect(event == number)
        }
    }

    @Test("wakes its reader at the deadline, and not for an alarm of the past")
    func alarm() async {
        let queue = EventQueue<Int>()
        var reader = queue.reader()
        let start = ContinuousClock.now
        let nothing = await reader.next(until: start + .milliseconds(30))
        #expect(nothing == nil)
        #expect(start.duration(to: .now) >= .milliseconds(30))
        // This alarm is replaced before it fires; the event comes first.
        queue.put(1)
        let first = await reader.next(until: .now + .milliseconds(20))
        #expect(first == 1)
        let second = ContinuousClock.now + .milliseconds(60)
        let late = await reader.next(until: second)
        #expect(late == nil)
        #expect(ContinuousClock.now >= second)
    }

    @Test("a deadline that has passed wakes at once")
    func past() async {
        let queue = EventQueue<Int>()
        queue.put(1)
        var reader = queue.reader()
        let nothing = await reader.next(until: .now - .seconds(1))
        #expect(nothing == nil)
        let event = await reader.next(until: nil)
        #expect(event == 1)
    }

    @Test("drops what comes beyond its bound, and counts it")
    func bound() async {
        let queue = EventQueue<Int>(bound: 10)
        for number in 0..<15 { queue.put(number) }
        #expect(queue.dropped == 5)
        var reader = queue.reader()
        for number in 0..<10 {
            let event = await reader.next(until: nil)
            #expect(event == number)
        }
    }

    @Test("a cancelled reader gets nothing any more")
    func cancelled() async {
        let queue = EventQueue<Int>()
        let task = Task {
            var reader = queue.reader()
            return await reader.next(until: nil)
        }
        task.cancel()
        let event = await task.value
        #expect(event == nil)
    }
}
