import DequeModule
import Glibc
import Whiteboard

/// A queue of items for one worker, bounded in bytes. Any thread posts; one thread takes batches.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private let capacity: Int
    // Under the mutex:
    private var items = Deque<Item>()
    /// Of the items in the queue and of the last batch, which is being handled.
    private var bytes = 0
    private var bytesTaken = 0
    /// Of the items in the queue.
    private var bytesWaiting = 0
    /// The number of items for which the taker has to be woken; 0 while it does not wait.
    private var awaited = 0
    private var dropped = 0
    // The taker's:
    private var pace = Pace()
    /// Items of the last batch.
    private var lastCount = 0

    private static var keptCapacity: Int { 4096 }
    private static var busyItems: Int { 64 }
    private static var busyWait: Duration { .microseconds(250) }

    /// - Parameter capacity: bytes at most; an item beyond is dropped and counted.
    init(capacity: Int) {
        self.capacity = capacity
        mutex = .allocate(capacity: 1)
        arrival = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        arrival.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(arrival, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(mutex)
        arrival.deallocate()
        mutex.deallocate()
    }

    /// Posts an item that occupies `cost` bytes.
    /// - Parameter mustNotBeLost: for an item whose sender has bounds of its own; it is never dropped.
    /// - Returns: false if it was dropped.
    @discardableResult
    func post(_ item: Item, cost: Int, mustNotBeLost: Bool) -> Bool {
        pthread_mutex_lock(mutex)
        guard mustNotBeLost || bytes + cost <= capacity else {
            dropped += 1
            pthread_mutex_unlock(mutex)
            return false
        }
        bytes += cost
        bytesWaiting += cost
        items.append(item)
        let isAwaited = items.count == awaited
        if isAwaited { awaited = 0 }
        pthread_mutex_unlock(mutex)
        if isAwaited { pthread_cond_signal(arrival) }
        return true
    }

    /// Exchanges `batch`, which is empty, for all items, oldest first; waits for one until `deadline`. Counts the batch
    /// before as handled.
    ///
    /// While much is posted, it waits for ``busyItems`` items or ``busyWait``: to be woken costs as much as several items.
    func take(into batch: inout Deque<Item>, until deadline: Instant?) {
        let began = MonotonicClock.now()
        let isBusy = pace.isBusy(at: began)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        bytes -= bytesTaken
        bytesTaken = 0
        if isBusy, items.count < Self.busyItems {
            wait(for: Self.busyItems, until: min(deadline ?? .distantFuture, began + Self.busyWait))
        }
        if items.isEmpty { wait(for: 1, until: deadline) }
        swap(&items, &batch)
        bytesTaken = bytesWaiting
        bytesWaiting = 0
        // Free the memory of a burst.
        if lastCount > Self.keptCapacity { items = [] }
        lastCount = batch.count
        pace.count(batch.count, at: MonotonicClock.now())
    }

    /// Waits until there are so many items, or until `deadline`. Under the mutex.
    private func wait(for count: Int, until deadline: Instant?) {
        awaited = count
        while items.count < count {
            guard let deadline else {
                pthread_cond_wait(arrival, mutex)
                continue
            }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            if pthread_cond_timedwait(arrival, mutex, &time) != 0 { break }
        }
        awaited = 0
    }

    /// Bytes in the queue, and items dropped so far.
    var load: (bytes: Int, dropped: Int) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return (bytes, dropped)
    }
}

/// Whether much has come lately.
private struct Pace {
    private var began = Instant.distantPast
    private var count = 0
    private var countBefore = 0

    private static let span = Duration.milliseconds(1)
    /// Items of a span from which on it counts as much.
    private static let busy = 8

    func isBusy(at now: Instant) -> Bool {
        now - began < Self.span * 2 && max(count, countBefore) >= Self.busy
    }

    mutating func count(_ items: Int, at now: Instant) {
        if now - began >= Self.span {
            countBefore = now - began < Self.span * 2 ? count : 0
            count = 0
            began = now
        }
        count += items
    }
}
