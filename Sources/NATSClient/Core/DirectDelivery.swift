internal import CNATS
internal import Locking

/// Tells an observer when a connection's thread begins and ends to call the handlers of direct subscriptions.
final class DeliveryRounds: Sendable {
    private struct Observer {
        let begin: @Sendable () -> Void
        let end: @Sendable () -> Void
    }

    private let observer = Locked<Observer?>(nil)

    func observe(begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
        observer.withLock { $0 = Observer(begin: begin, end: end) }
    }

    func forget() { observer.withLock { $0 = nil } }

    func run(_ deliver: () -> Void) {
        let observer = observer.withLock { $0 }
        observer?.begin()
        deliver()
        observer?.end()
    }
}

/// A subscription whose handler runs on the thread that reads the socket.
final class DirectSubscription: Sendable {
    /// Owned by the connection's table.
    nonisolated(unsafe) let raw: OpaquePointer
    private let handler: @Sendable (borrowing NATSMessage) -> Void

    init(_ raw: OpaquePointer, handler: @escaping @Sendable (borrowing NATSMessage) -> Void) {
        self.raw = raw
        self.handler = handler
    }

    /// Calls the handler for each message that has come.
    /// - Parameter spent: takes the messages, to be destroyed.
    func deliver(_ spent: inout SpentMessages) {
        var count: Int32 = 0
        // Asking for a message where there is none would be an error, which libnats writes down.
        guard natsSubscription_GetPending(raw, &count, nil) == NATS_OK else { return }
        while count > 0 {
            var message: OpaquePointer?
            switch natsSubscription_NextMsg(&message, raw, 0) {
            case NATS_OK:
                guard let message else { break }
                handler(NATSMessage(lent: message))
                spent.append(message)
            // Said once when messages were dropped; the next call gives the first that was not.
            case NATS_SLOW_CONSUMER: continue
            // Instead of the message.
            case NATS_NO_RESPONDERS: break
            default: return
            }
            count -= 1
        }
    }
}
