import Locking
package import NATSClient

/// Collects values from handlers, in order, and waits for a number of them.
package final class Recorder<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiting: [(count: Int, promise: Promise<Void>)] = []
    }

    private let state = Locked(State())

    package init() {}

    package func append(_ value: Value) {
        let reached = state.withLock { state in
            state.values.append(value)
            let count = state.values.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }
        }
        for waiter in reached { waiter.promise.fulfil(.success(())) }
    }

    package var values: [Value] { state.withLock { $0.values } }

    /// Waits for this many values. Throws `.timeout` when they do not come.
    package func values(_ count: Int, within limit: Duration = .seconds(30)) async throws(NATSError) -> [Value] {
        let promise = Promise<Void>()
        state.withLock { state in
            if state.values.count >= count {
                promise.fulfil(.success(()))
            } else {
                state.waiting.append((count, promise))
            }
        }
        try await promise.value(within: limit).get()
        return values
    }
}
