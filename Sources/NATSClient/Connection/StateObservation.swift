/// A handler of a connection's state changes, for as long as the connection lives or until it is cancelled.
public final class StateObservation: Sendable {
    let handler: @Sendable (ConnectionState) -> Void
    private let link: Link

    init(link: Link, handler: @escaping @Sendable (ConnectionState) -> Void) {
        self.link = link
        self.handler = handler
    }

    /// Ends it. A call that has begun may still go on when this returns. Any thread.
    public func cancel() {
        link.forget(self)
    }
}
