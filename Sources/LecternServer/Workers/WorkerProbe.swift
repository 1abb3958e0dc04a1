import Locking
import Metrics
import Whiteboard

/// Measures how long an item waits for each worker, and knows which worker no longer answers.
///
/// Every worker gets a probe a second, behind all that waits for it, and no other one before it has answered. Any thread.
final class WorkerProbe: Sendable {
    static let interval = Duration.seconds(1)

    /// When the probe that a worker has not answered was sent, by its number.
    private let sent = Locked<[Int: Instant]>([:])
    private let delay = Recorder(label: "lectern_worker_delay_seconds", aggregate: true)

    /// Sends a probe to each worker that has answered the last one.
    func send(to workers: [RoomWorker], at now: Instant) {
        for (number, worker) in workers.enumerated() {
            let isDue = sent.withLock { sent in
                guard sent[number] == nil else { return false }
                sent[number] = now
                return true
            }
            if isDue { worker.post(.probe(self, worker: number)) }
        }
    }

    func answered(by worker: Int, at now: Instant) {
        guard let begin = sent.withLock({ $0.removeValue(forKey: worker) }) else { return }
        delay.record(max(0, (now - begin) / .seconds(1)))
    }

    /// How long the slowest worker has not answered; 0 where none is asked.
    func stall(at now: Instant) -> Duration {
        sent.withLock { $0.values.map { now - $0 }.max() ?? .zero }
    }

    /// Sends probes until the task is cancelled.
    func run(_ workers: [RoomWorker]) async {
        while !Task.isCancelled {
            send(to: workers, at: MonotonicClock.now())
            try? await Task.sleep(for: Self.interval)
        }
        sent.withLock { $0 = [:] }
    }
}
