/// A subject listened to for as long as its connection lives, whatever happens to the server in between.
public final class NATSSubscription: Sendable {
    /// The subject, maybe with wildcards.
    public let subject: String
    /// The queue group, if the subscription shares its messages with others.
    public let queue: String?

    init(subject: String, queue: String?) {
        self.subject = subject
        self.queue = queue
    }

    /// Ends the subscription. The handler may run for messages that had arrived already, once more at the most
    /// after this returns. Any thread; more than once does nothing.
    public func unsubscribe() {
        fatalError("being written")
    }
}
