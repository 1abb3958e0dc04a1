import Glibc
import Whiteboard

/// What waits for a worker, bounded in bytes. Any thread posts, one takes everything there is at once.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private let capacity: Int
    // Under the mutex:
    private var items: [Item] = []
    private var bytes = 0
    private var dropped = 0

    /// - Parameter capacity: bytes that may wait; what would exceed them is dropped and counted.
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
    /// - Parameter mustNotBeLost: for an item whose sender keeps to bounds of its own.
    /// - Returns: whether it was taken.
    @discardableResult
    func post(_ item: Item, cost: Int, mustNotBeLost: Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard mustNotBeLost || bytes + cost <= capacity else {
            dropped += 1
            return false
        }
        bytes += cost
        items.append(item)
        if items.count == 1 { pthread_cond_signal(arrival) }
        return true
    }

    /// Swaps everything that waits into `batch`; waits for it until `deadline`.
    func take(into batch: inout [Item], until deadline: Instant?) {
        batch.removeAll(keepingCapacity: true)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while items.isEmpty {
            guard let deadline else {
                pthread_cond_wait(arrival, mutex)
                continue
            }
            var time = timespec(
                tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
            if pthread_cond_timedwait(arrival, mutex, &time) != 0 { break }
        }
        swap(&batch, &items)
        bytes = 0
    }

    /// Bytes that wait, and items dropped so far.
    var load: (bytes: Int, dropped: Int) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return (bytes, dropped)
    }
}
