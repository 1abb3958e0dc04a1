/// A subject listened to for as long as its connection lives, whatever happens to the server in between.
public final class NATSSubscription: Sendable {
    /// The subject, maybe with wildcards.
    public let subject: String
    /// The queue group, if the subscription shares its messages with others.
    public let queue: String?

    var id: ObjectIdentifier { ObjectIdentifier(self) }
    let handler: @Sendable (borrowing NATSMessage) -> Void
    private let link: Link

    init(
        _ subject: String, queue: String? = nil, link: Link,
        handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) {
        self.subject = subject
        self.queue = queue
        self.link = link
        self.handler = handler
    }

    /// Ends the subscription. What has arrived and waits for the handler is dropped; a call to the handler that has
    /// begun may still go on when this returns. Any thread; a second time does nothing.
    public func unsubscribe() {
        link.unsubscribe(self)
    }
}
