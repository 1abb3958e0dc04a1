import DequeModule
import Foundation
import Synchronization
import TestSupport
import Testing
import Whiteboard

@testable import LecternServer

@Suite struct MailboxTests {
    private let mailbox = Mailbox<Int>(capacity: 1000)

    private func post(_ items: ClosedRange<Int>, cost: Int = 1, isBrief: Bool = true) {
        for item in items { mailbox.post(item, cost: cost, mustNotBeLost: false, isBrief: isBrief) }
    }

    private func take(from mailbox: Mailbox<Int>? = nil) -> [Int] {
        var batch: Deque<Int> = []
        (mailbox ?? self.mailbox).take(into: &batch, nextWake: MonotonicClock.now())
        return Array(batch)
    }

    /// - Returns: nil where the items are left to the worker's thread.
    private func closeRound(mayHandle: Bool = true) -> [Int]? {
        var batch: Deque<Int> = []
        guard mailbox.closeRound(into: &batch, mayHandle: mayHandle, at: MonotonicClock.now()) else { return nil }
        return Array(batch)
    }

    @Test func `items come in order, all at once, and their bytes count until they are handled`() {
        post(1...10, cost: 100)
        #expect(!mailbox.post(11, cost: 100, mustNotBeLost: false, isBrief: true))
        #expect(take() == Array(1...10))
        #expect(mailbox.load.bytes == 1000)
        #expect(mailbox.load.dropped == 1)
        mailbox.post(12, cost: 1, mustNotBeLost: true, isBrief: true)
        #expect(take() == [12])
        #expect(mailbox.load.bytes == 1)
        #expect(take() == [])
    }

    @Test func `dispensable messages have a quarter of the capacity, and take no other's place`() {
        func post(_ item: Int, isDispensable: Bool) -> Bool {
            mailbox.post(item, cost: 100, mustNotBeLost: false, isBrief: true, isDispensable: isDispensable)
        }
        #expect((1...9).count { post($0, isDispensable: true) } == 2)
        #expect((10...19).count { post($0, isDispensable: false) } == 8)
        #expect(!post(20, isDispensable: true))
        #expect(take() == [1, 2] + Array(10...17))
        #expect(!post(21, isDispensable: true), "the batch still counts")
        #expect(mailbox.load.dropped == 7 + 2 + 1 + 1)
    }

    @Test func `requests wait behind all other items, a turn of them at a time, and have a quarter of the capacity`() {
        let mailbox = Mailbox<Int>(capacity: 4000)
        func post(_ item: Int, isRequest: Bool) -> Bool {
            mailbox.post(item, cost: 1, mustNotBeLost: false, isBrief: !isRequest, isRequest: isRequest)
        }
        func take() -> [Int] { self.take(from: mailbox) }
        #expect((1...1001).count { post($0, isRequest: true) } == 1000)
        #expect(post(-1, isRequest: false))
        #expect(take() == [-1] + Array(1...256))
        #expect(post(-2, isRequest: false))
        #expect(take() == [-2] + Array(257...512))
        #expect(mailbox.load.bytes == 1 + 1000 - 256)
        #expect(take() == Array(513...768))
        #expect(take() == Array(769...1000))
        #expect(take() == [])
        #expect(mailbox.load.bytes == 0)
    }

    @Test func `a worker ends behind the requests that it has`() { #expect(InboundItem.stop.isRequest) }

    @Test func `messages posted in a round are handled at its end by the thread that opened it`() {
        #expect(take() == [])
        #expect(closeRound() == nil, "handled by the thread that took")
        mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
        mailbox.openRound()
        post(1...3)
        #expect(closeRound() == [1, 2, 3])
        post(4...5)
        mailbox.openRound()
        #expect(closeRound() == nil, "a batch is being handled")
        mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
        #expect(mailbox.load.bytes == 2)
        #expect(take() == [4, 5])
    }

    @Test func `long work is left to the worker's thread, also where it comes while a deliverer waits`() {
        for _ in 0..<200 {
            let mailbox = Mailbox<Int>(capacity: 1000)
            func take() -> [Int] { self.take(from: mailbox) }
            mailbox.post(1, cost: 1, mustNotBeLost: true, isBrief: true)
            #expect(take() == [1])
            mailbox.openRound()
            mailbox.post(2, cost: 1, mustNotBeLost: true, isBrief: true)
            let (isClosing, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let wasTaken = Atomic(false)
            Thread.detachNewThread {
                var batch: Deque<Int> = []
                isClosing.signal()
                if mailbox.closeRound(into: &batch, mayHandle: true, at: MonotonicClock.now()) {
                    wasTaken.store(true, ordering: .relaxed)
                    mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
                }
                isClosed.signal()
            }
            isClosing.wait()
            mailbox.post(3, cost: 1, mustNotBeLost: true, isBrief: false)
            let batch = take()
            isClosed.wait()
            let isTaken = wasTaken.load(ordering: .relaxed)
            #expect(!isTaken)
            #expect(batch == [2, 3])
        }
    }

    @Test func `long work is left to the worker's thread, and so is all that follows such a batch`() {
        #expect(take() == [])
        mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
        post(1...1)
        post(2...2, isBrief: false)
        #expect(closeRound() == nil)
        #expect(take() == [1, 2])
        mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
        post(3...3)
        #expect(closeRound(mayHandle: false) == nil)
        #expect(closeRound() == [3])
        let now = MonotonicClock.now()
        mailbox.handled(nextWake: nil, in: .milliseconds(11), at: now)
        post(4...4)
        var batch: Deque<Int> = []
        #expect(!mailbox.closeRound(into: &batch, mayHandle: true, at: now + .milliseconds(99)))
        #expect(mailbox.closeRound(into: &batch, mayHandle: true, at: now + .milliseconds(100)))
        #expect(batch == [4])
    }

    @Test func `with rounds and posts of other threads every item is handled once, in the order of its poster`() {
        let count = 20_000
        let mailbox = Mailbox<Int>(capacity: .max)
        let handled = Mutex<(isHandling: Bool, items: [Int])>((false, []))
        @Sendable func handle(_ batch: inout Deque<Int>) -> Int {
            let isAlone = handled.withLock { handled in
                defer { handled.isHandling = true }
                return !handled.isHandling
            }
            #expect(isAlone)
            return handled.withLock { handled in
                handled.isHandling = false
                handled.items += batch
                batch.removeAll()
                return handled.items.count
            }
        }
        let ended = DispatchSemaphore(value: 0)
        func start(_ body: @escaping @Sendable () -> Void) {
            Thread {
                body()
                ended.signal()
            }.start()
        }
        start {
            var batch: Deque<Int> = []
            repeat { mailbox.take(into: &batch, nextWake: nil) } while handle(&batch) < 2 * count
        }
        start { for item in 1...count { mailbox.post(item, cost: 1, mustNotBeLost: true, isBrief: item % 7 != 0) } }
        start {
            var random = SeededGenerator(seed: TestSeed.choose())
            var batch: Deque<Int> = []
            var next = 1
            while next <= count {
                mailbox.openRound()
                for item in next...min(count, next + random.int(0..<9)) {
                    mailbox.post(-item, cost: 1, mustNotBeLost: true, isBrief: item % 5 != 0)
                    next = item + 1
                }
                guard mailbox.closeRound(into: &batch, mayHandle: true, at: MonotonicClock.now()) else { continue }
                let total = handle(&batch)
                // The worker's thread ends with an item, not without one.
                if total == 2 * count { mailbox.post(0, cost: 0, mustNotBeLost: true, isBrief: false) }
                mailbox.handled(nextWake: nil, in: .zero, at: MonotonicClock.now())
            }
        }
        for _ in 0..<3 { ended.wait() }
        let items = handled.withLock { $0.items }
        #expect(items.filter { $0 > 0 } == Array(1...count))
        #expect(items.filter { $0 < 0 } == (1...count).map { -$0 })
    }
}
