import Dispatch
import Glibc
import StrokeWire
import Synchronization
import Whiteboard

/// A bound on how many requests of one kind are pending at once. Safe from any thread; does not wait.
final class Permits: Sendable {
    private let left: Atomic<Int>

    init(_ limit: Int) {
        left = Atomic(limit)
    }

    /// - Returns: whether a permit was free.
    func acquire() -> Bool {
        if left.subtract(1, ordering: .relaxed).oldValue > 0 { return true }
        left.add(1, ordering: .relaxed)
        return false
    }

    func release() {
        left.add(1, ordering: .relaxed)
    }
}

/// Calls a closure once, after `count` calls of ``countDown()``. Safe from any thread.
final class CountDownLatch: Sendable {
    private let left: Atomic<Int>
    private let whenDone: @Sendable () -> Void

    init(_ count: Int, whenDone: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.whenDone = whenDone
    }

    @Sendable func countDown() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
    }
}

extension DispatchQueue {
    /// Runs work on the queue that takes long or blocks its thread. All tasks of the process share one thread for each core.
    func run(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            self.async {
                work()
                done.resume()
            }
        }
    }
}

/// Tries until it succeeds, with pauses between that double up to the longest one.
/// - Returns: nil where the task is cancelled.
@discardableResult
func retrying<Value, Failure: Error>(
    pauses: ClosedRange<Duration>, _ body: () async throws(Failure) -> Value, onFailure: (Failure) -> Void
) async -> Value? {
    var pause = pauses.lowerBound
    while !Task.isCancelled {
        do throws(Failure) {
            return try await body()
        } catch {
            onFailure(error)
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, pauses.upperBound)
        }
    }
    return nil
}

/// Runs asynchronous work in a fixed number of tasks: in order for one room, in parallel for several.
struct KeyedTaskQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    private let queues: [AsyncStream<Work>.Continuation]
    private let tasks: [Task<Void, Never>]

    init(count: Int) {
        var queues: [AsyncStream<Work>.Continuation] = []
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<count {
            let (works, queue) = AsyncStream.makeStream(of: Work.self)
            queues.append(queue)
            tasks.append(Task { for await work in works { await work() } })
        }
        self.queues = queues
        self.tasks = tasks
    }

    func run(for room: RoomID, _ work: @escaping Work) {
        queues[Int(FNV1a64.mixed(room.text.utf8) % UInt64(queues.count))].yield(work)
    }

    /// Ends the tasks; work that waits is dropped.
    func stop() {
        for queue in queues { queue.finish() }
        for task in tasks { task.cancel() }
    }
}

/// The clock that also counts while the machine is suspended, the time base of what daemons know of each other: the others
/// go on meanwhile. Its instants are not those of ``MonotonicClock``.
enum BootClock {
    static func now() -> Instant { Instant(of: CLOCK_BOOTTIME) }
}

/// The machine's monotonic clock, the time base of all rooms.
enum MonotonicClock {
    static func now() -> Instant { Instant(of: CLOCK_MONOTONIC) }
}

extension Instant {
    fileprivate init(of clock: clockid_t) {
        var time = timespec()
        clock_gettime(clock, &time)
        self.init(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
