/// A handler of what happens to a connection, for as long as the connection lives or until it is cancelled.
public final class Observation: Sendable {
    private let onCancel: @Sendable (Observation) -> Void

    init(onCancel: @escaping @Sendable (Observation) -> Void) {
        self.onCancel = onCancel
    }

    /// Ends it. A call that has begun may still go on when this returns. Any thread.
    public func cancel() {
        onCancel(self)
    }
}

/// Who wants to hear of something, in the order in which they asked.
struct Observers<News: Sendable> {
    typealias Handler = @Sendable (News) -> Void

    private var entries: [(observation: Observation, handler: Handler)] = []

    var handlers: [Handler] { entries.map(\.handler) }

    mutating func add(_ observation: Observation, _ handler: @escaping Handler) {
        entries.append((observation, handler))
    }

    mutating func remove(_ observation: Observation) {
        entries.removeAll { $0.observation === observation }
    }
}
