internal import Dispatch

/// A thread of its own for an actor whose calls block: libnats connects, flushes and closes in the calling thread,
/// and neither Swift's own pool nor a thread of libnats may wait for that.
final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
