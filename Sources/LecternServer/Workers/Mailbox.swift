import DequeModule
import Glibc
import Whiteboard

/// A queue of items for one worker, bounded in bytes. Any thread posts; one thread takes batches.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private let capacity: Int
    // Under the mutex:
    private var items = Deque<(item: Item, cost: Int)>()
    /// Of the items in the queue and of the last batch, which is being handled.
    private var bytes = 0
    private var bytesTaken = 0
    /// Items in the queue at most since it was last empty.
    private var peak = 0
    private var dropped = 0

    private static var keptCapacity: Int { 4096 }

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
        defer { pthread_mutex_unlock(mutex) }
        guard mustNotBeLost || bytes + cost <= capacity else {
            dropped += 1
            return false
        }
        bytes += cost
        items.append((item, cost))
        peak = max(peak, items.count)
        if items.count == 1 { pthread_cond_signal(arrival) }
        return true
    }

    /// Moves at most `limit` items into `batch`, oldest first; waits for one until `deadline`. Counts the batch before as
    /// handled.
    func take(into batch: inout [Item], atMost limit: Int, until deadline: Instant?) {
        batch.removeAll(keepingCapacity: true)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        bytes -= bytesTaken
        bytesTaken = 0
        while items.isEmpty {
            guard let deadline else {
                pthread_cond_wait(arrival, mutex)
                continue
            }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            if pthread_cond_timedwait(arrival, mutex, &time) != 0 { break }
        }
        for _ in 0..<min(limit, items.count) {
            let (item, cost) = items.removeFirst()
            batch.append(item)
            bytesTaken += cost
        }
        guard items.isEmpty else { return }
        // Free the memory of a burst.
        if peak > Self.keptCapacity { items = [] }
        peak = 0
    }

    /// Bytes in the queue, and items dropped so far.
    var load: (bytes: Int, dropped: Int) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return (bytes, dropped)
    }
}
