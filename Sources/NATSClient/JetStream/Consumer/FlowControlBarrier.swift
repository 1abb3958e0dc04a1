/// The question whether what has been delivered so far has been dealt with: the server's, and once whenever reading
/// begins anew.
///
/// Until it is answered only so much more is delivered (2 MiB at first, with quick answers up to 32 MiB; nothing where
/// reading begins anew): who answers late is not flooded.
public struct FlowControlBarrier: Sendable {
    /// Where the server wants the answer; nil where reading begins anew.
    let subject: String?
    private let consumer: OrderedConsumer

    init(subject: String?, consumer: OrderedConsumer) {
        self.subject = subject
        self.consumer = consumer
    }

    /// Says that everything before it has been dealt with. Any thread; repeats do no harm.
    public func pass() {
        consumer.pass(self)
    }
}
