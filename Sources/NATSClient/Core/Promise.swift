import Locking

/// A result that is set once, and the tasks that wait for it.
///
/// Only the first result counts. A wait that times out or is cancelled does not affect the other waits.
package final class Promise<Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, NATSError>

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    package var isFulfilled: Bool { state.withLock { $0.outcome != nil } }

    /// Sets the result, for all present and later waits. Any thread; never blocks.
    package func fulfil(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [UInt64: CheckedContinuation<Outcome, Never>]() }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(returning: outcome) }
    }

    /// Waits for the result.
    /// - Returns: the result; `.timeout` at the limit; `.cancelled` when the task is cancelled.
    package func value(within limit: Duration? = nil) async -> Outcome {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let deadline = limit.map { ContinuousClock.now + $0 }
        let timer = deadline.map { deadline in
            Task {
                guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
                self.endWait(waiter, with: .timeout)
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wait(as: waiter, until: deadline, $0) }
        } onCancel: {
            endWait(waiter, with: .cancelled)
        }
    }

    private func wait(
        as waiter: UInt64, until deadline: ContinuousClock.Instant?, _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let outcome: Outcome? = state.withLock { state in
            if let outcome = state.outcome { return outcome }
            // `endWait` found no waiter if it was called before this line.
            if Task.isCancelled { return .failure(.cancelled) }
            if let deadline, deadline <= .now { return .failure(.timeout) }
            state.waiters[waiter] = continuation
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    private func endWait(_ waiter: UInt64, with error: NATSError) {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: .failure(error))
    }
}
