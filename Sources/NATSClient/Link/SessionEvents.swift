internal import CNATS
internal import Logging
internal import Synchronization

/// What libnats reports about one `natsConnection`, on its thread for such callbacks.
///
/// The context of these callbacks is a number, not a pointer: an error may be reported after the end, so that no
/// moment would be right to release an object. A number that is known no more is ignored.
final class SessionEvents: Sendable {
    /// The connection is gone, or cannot be used any longer, for that reason.
    let ended = Promise<String>()
    let number: UInt
    /// The subjects of the subscriptions in use, by their addresses, which are only compared: libnats reports about a
    /// subscription without holding it, so that it may be gone (3.4.1).
    private let subjects = Locked<[OpaquePointer: String]>([:])
    private let logger: Logger
    private let onDenial: @Sendable (Denial) -> Void

    private static let lastNumber = Atomic<UInt>(0)
    private static let live = Locked<[UInt: SessionEvents]>([:])

    /// Events under a new number, which `forget()` gives back.
    init(logger: Logger, onDenial: @escaping @Sendable (Denial) -> Void) {
        self.logger = logger
        self.onDenial = onDenial
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        Self.live.withLock { $0[number] = self }
    }

    /// The context for the callbacks.
    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    static func of(_ context: UnsafeMutableRawPointer?) -> SessionEvents? {
        live.withLock { $0[UInt(bitPattern: context)] }
    }

    func forget() {
        Self.live.withLock { $0[number] = nil }
    }

    /// Notes the subject of a subscription while it is in use; `nil` when it is no more.
    func name(_ subscription: OpaquePointer, _ subject: String?) {
        subjects.withLock { $0[subscription] = subject }
    }

    func dropped(_ subscription: OpaquePointer?) {
        let subject = subscription.flatMap { address in subjects.withLock { $0[address] } }
        logger.warning(
            "messages dropped: a handler is too slow", metadata: subject.map { ["subject": "\($0)"] })
    }

    func reported(_ error: String) {
        logger.warning("NATS reports an error", metadata: ["error": "\(error)"])
        if let denial = Denial(reported: error) { onDenial(denial) }
    }
}

/// `natsConnectionHandler`: the connection is closed, by either side.
func connectionClosed(_ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    SessionEvents.of(context)?.ended.fulfil(.success(lastError(of: connection)))
}

/// `natsErrHandler`: messages dropped, permissions violated and the like; the connection stays.
func connectionReported(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
    _ context: UnsafeMutableRawPointer?
) {
    guard let events = SessionEvents.of(context) else { return }
    if status == NATS_SLOW_CONSUMER {
        events.dropped(subscription)
    } else {
        // The connection has the words of its newest error alone; those of this one are set for the length of the call.
        let denial = status == NATS_NOT_PERMITTED ? nats_GetLastError(nil).map { String(cString: $0) } : nil
        events.reported(denial ?? lastError(of: connection))
    }
}

private func lastError(of connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    let status = natsConnection_GetLastError(connection, &text)
    let words = text.map { String(cString: $0) } ?? ""
    if !words.isEmpty { return words }
    return status == NATS_OK ? "the other side closed it" : NATSError(status).description
}
