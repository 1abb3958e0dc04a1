/// The server's question whether what it has sent so far has been dealt with.
///
/// Until it is answered the server sends only so much more (2 MiB at first, with quick answers up to 32 MiB): who
/// answers late is not flooded.
public struct FlowControlBarrier: Sendable {
    let subject: String
    private let consumer: OrderedConsumer

    init(subject: String, consumer: OrderedConsumer) {
        self.subject = subject
        self.consumer = consumer
    }

    /// Says that everything before it has been dealt with. Any thread; repeats do no harm.
    public func pass() {
        consumer.pass(self)
    }
}
