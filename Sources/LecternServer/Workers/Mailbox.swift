import DequeModule
import Glibc
import Whiteboard

/// A queue of items for one worker, bounded in bytes. Any thread posts; one at a time takes all of them as a batch and
/// handles it.
///
/// There are two takers: the worker's own thread, which waits for items, and a thread that delivers messages in rounds:
/// what is posted during a round waits for its end, and is handled by the deliverer itself where that is brief. So a
/// message that comes alone changes threads nowhere, and many that come together wake the worker once.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// For the worker's thread.
    private let arrival: Condition
    /// For the deliverer.
    private let end: Condition
    private let capacity: Int
    // Under the mutex:
    private var items = Deque<Item>()
    /// Requests wait behind all other items, and are taken a turn at a time: many of them delay nothing else.
    private var requests = Deque<(item: Item, cost: Int)>()
    private var requestBytes = 0
    /// Of the items in the queues and of the batch that is being handled.
    private var bytes = 0
    private var bytesTaken = 0
    /// Of the items in the queue but requests.
    private var bytesWaiting = 0
    /// Items in the queue but requests that are for the worker's thread.
    private var longItems = 0
    private var isRoundOpen = false
    /// Whether a batch is being handled; at first by the worker's thread, until it takes one.
    private var isHandling = true
    /// Whether the deliverer waits for the end of a batch, to handle the next one.
    private var isDelivererWaiting = false
    /// What the worker's thread waits for beside items, `distantFuture` for nothing; nil while it does not wait.
    private var waitsUntil: Instant?
    /// When something is to be done without an item.
    private var nextWake = Instant.distantFuture
    /// Until then the worker's thread handles everything: a batch has taken long.
    private var isSlowUntil = Instant.distantPast
    private var dropped = 0
    /// Items of the last batch of each taker, which comes back with its memory when the same one takes the next.
    private var lastCounts = (worker: 0, deliverer: 0)

    private static var keptCapacity: Int { 4096 }
    /// Requests in a batch at most.
    private static var turn: Int { 256 }
    /// Bytes of items that a deliverer handles itself.
    private static var briefBytes: Int { 256 << 10 }
    /// A deliverer reads nothing while it handles a batch: after one that takes longer it leaves them to the worker.
    private static var briefTime: Duration { .milliseconds(10) }
    private static var slowTime: Duration { .milliseconds(100) }
    /// The same where it waits for the worker to end one: two threads that share the work only get in each other's way.
    private static var briefWait: Duration { .milliseconds(2) }

    /// - Parameter capacity: bytes at most; an item beyond is dropped and counted.
    init(capacity: Int) {
        self.capacity = capacity
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        arrival = Condition(mutex)
        end = Condition(mutex)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Bytes in the queue, and items dropped so far.
    var load: (bytes: Int, dropped: Int) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return (bytes, dropped)
    }
}

// MARK: - Posting

extension Mailbox {
    /// Posts an item that occupies `cost` bytes.
    /// - Parameters:
    ///   - mustNotBeLost: for an item whose sender has bounds of its own; it is never dropped.
    ///   - isBrief: whether a deliverer may handle it.
    ///   - isDispensable: whether a quarter of the capacity is all there is for it, so that it takes no other's place.
    ///   - isRequest: for a request, which is long. All requests have a quarter of the capacity.
    /// - Returns: false if it was dropped.
    @discardableResult
    func post(
        _ item: Item, cost: Int, mustNotBeLost: Bool, isBrief: Bool, isDispensable: Bool = false,
        isRequest: Bool = false
    ) -> Bool {
        pthread_mutex_lock(mutex)
        let fits =
            bytes + cost <= (isDispensable ? capacity / 4 : capacity)
            && (!isRequest || requestBytes + cost <= capacity / 4)
        guard mustNotBeLost || fits else {
            dropped += 1
            pthread_mutex_unlock(mutex)
            return false
        }
        bytes += cost
        if isRequest {
            requestBytes += cost
            requests.append((item, cost))
        } else {
            bytesWaiting += cost
            if !isBrief { longItems += 1 }
            items.append(item)
        }
        unlock(waking: true)
        return true
    }

    /// Has items wait until the round is closed.
    func openRound() {
        pthread_mutex_lock(mutex)
        isRoundOpen = true
        pthread_mutex_unlock(mutex)
    }

    /// Closes the round. Exchanges `batch`, which is empty, for all items where the caller has to handle them, and then to
    /// call ``handled(nextWake:in:at:)``; otherwise the worker's thread does.
    /// - Parameter mayHandle: whether the caller has time for it.
    /// - Returns: whether the caller has to.
    func closeRound(into batch: inout Deque<Item>, mayHandle: Bool, at now: Instant) -> Bool {
        pthread_mutex_lock(mutex)
        isRoundOpen = false
        if mayHandle, isBrief(at: now), !items.isEmpty { waitForEnd(at: now) }
        // Others may have posted long items meanwhile.
        guard mayHandle, isBrief(at: now), !items.isEmpty, !isHandling else {
            unlock(waking: !isEmpty || waitsUntil.map { nextWake < $0 } ?? false)
            return false
        }
        takeAll(into: &batch, &lastCounts.deliverer)
        pthread_mutex_unlock(mutex)
        return true
    }

    /// Whether a deliverer may handle what waits. To be asked under the mutex.
    private func isBrief(at now: Instant) -> Bool {
        longItems == 0 && requests.isEmpty && bytesWaiting <= Self.briefBytes && now >= isSlowUntil
    }

    /// Waits while the worker's thread handles a batch, but not for long.
    private func waitForEnd(at now: Instant) {
        guard isHandling else { return }
        isDelivererWaiting = true
        while isHandling, end.wait(until: now + Self.briefWait) {}
        isDelivererWaiting = false
        if isHandling { isSlowUntil = now + Self.slowTime }
    }

    /// The batch of the round is handled.
    /// - Parameters:
    ///   - nextWake: when something is to be done without an item.
    ///   - duration: the processor time that it has taken.
    func handled(nextWake: Instant?, in duration: Duration, at now: Instant) {
        pthread_mutex_lock(mutex)
        finishBatch(nextWake: nextWake)
        if duration > Self.briefTime { isSlowUntil = now + Self.slowTime }
        unlock(waking: !isEmpty || waitsUntil.map { self.nextWake < $0 } ?? false)
    }

    /// Ends the use of the mutex.
    /// - Parameter waking: whether the worker's thread has something to do; it is woken if it waits.
    private func unlock(waking: Bool) {
        let mustWake = waking && waitsUntil != nil && !isHeld
        if mustWake { waitsUntil = nil }
        pthread_mutex_unlock(mutex)
        if mustWake { arrival.signal() }
    }
}

// MARK: - Taking

extension Mailbox {
    /// Exchanges `batch`, which is empty, for all items, oldest first, and a turn of requests; waits for one until `nextWake`.
    /// Counts the batch before as handled. For the worker's thread.
    func take(into batch: inout Deque<Item>, nextWake: Instant?) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        finishBatch(nextWake: nextWake)
        if isDelivererWaiting { end.signal() }
        while isHeld || isEmpty && MonotonicClock.now() < self.nextWake {
            waitsUntil = isHeld ? .distantFuture : self.nextWake
            arrival.wait(until: isHeld ? .distantFuture : self.nextWake)
            waitsUntil = nil
        }
        takeAll(into: &batch, &lastCounts.worker)
    }

    /// Whether the worker's thread has to wait for the deliverer.
    private var isHeld: Bool { isHandling || isRoundOpen || isDelivererWaiting }

    private var isEmpty: Bool { items.isEmpty && requests.isEmpty }

    private func takeAll(into batch: inout Deque<Item>, _ lastCount: inout Int) {
        isHandling = true
        swap(&items, &batch)
        bytesTaken = bytesWaiting
        bytesWaiting = 0
        longItems = 0
        for request in requests.prefix(Self.turn) {
            batch.append(request.item)
            bytesTaken += request.cost
            requestBytes -= request.cost
        }
        requests.removeFirst(min(Self.turn, requests.count))
        // Free the memory of a burst.
        if requests.isEmpty { requests = [] }
        if lastCount > Self.keptCapacity { items = [] }
        lastCount = batch.count
    }

    private func finishBatch(nextWake: Instant?) {
        isHandling = false
        bytes -= bytesTaken
        bytesTaken = 0
        self.nextWake = nextWake ?? .distantFuture
    }
}

/// A condition variable, with the monotonic clock. Used under its mutex, which must outlive it.
private struct Condition: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>

    init(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        self.mutex = mutex
        variable = .allocate(capacity: 1)
        variable.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(variable, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(variable)
        variable.deallocate()
    }

    func signal() { pthread_cond_signal(variable) }

    /// Leaves the mutex until a signal, or longer or shorter.
    /// - Returns: false when the time is over.
    @discardableResult
    func wait(until deadline: Instant) -> Bool {
        guard deadline < .distantFuture else { return pthread_cond_wait(variable, mutex) == 0 }
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        return pthread_cond_timedwait(variable, mutex, &time) == 0
    }
}
