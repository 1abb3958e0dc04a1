internal import CNATS

/// The context of one subscription in libnats.
///
/// Retained when the subscription is made, released by its completion callback, which libnats calls on the delivery
/// thread after the last message: a message callback may run after unsubscribe has returned.
final class Delivery: Sendable {
    let handler: @Sendable (borrowing NATSMessage) -> Void
    private let session: Session

    init(to handler: @escaping @Sendable (borrowing NATSMessage) -> Void, of session: Session) {
        self.handler = handler
        self.session = session
    }

    func complete() {
        session.deliveryCompleted()
    }
}

/// `natsMsgHandler`, on the delivery thread: the message is ours from here.
func deliverMessage(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?
) {
    guard let message, let context else { return }
    let owned = NATSMessage(owning: message)
    Unmanaged<Delivery>.fromOpaque(context).takeUnretainedValue().handler(owned)
}

/// `natsOnCompleteCB`, on the delivery thread: nothing is delivered to this context any more.
func completeDelivery(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Delivery>.fromOpaque(context).takeRetainedValue().complete()
}
