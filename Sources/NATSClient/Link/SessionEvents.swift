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
    private let logger: Logger

    private static let lastNumber = Atomic<UInt>(0)
    private static let live = Locked<[UInt: SessionEvents]>([:])

    /// Events under a new number, which `forget()` gives back.
    init(logger: Logger) {
        self.logger = logger
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

    func reported(_ status: natsStatus, _ text: String) {
        if status == NATS_SLOW_CONSUMER {
            logger.warning("messages dropped: a handler is too slow", metadata: ["subject": "\(text)"])
        } else {
            logger.warning("NATS reports an error", metadata: ["error": "\(text)"])
        }
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
    let subject = natsSubscription_GetSubject(subscription).map { String(cString: $0) }
    SessionEvents.of(context)?.reported(status, subject ?? lastError(of: connection))
}

private func lastError(of connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    let status = natsConnection_GetLastError(connection, &text)
    let words = text.map { String(cString: $0) } ?? ""
    if !words.isEmpty { return words }
    return status == NATS_OK ? "the other side closed it" : NATSError(status).description
}
