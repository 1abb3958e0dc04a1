internal import CNATS
internal import Locking
internal import Logging
internal import Synchronization

/// What libnats reports about one `natsConnection`, on its callback thread.
///
/// The context of these callbacks is a number, not a pointer: an error may be reported after the end of the connection,
/// so there is no right moment to release an object. Reports with an unknown number are ignored.
final class LibnatsEvents: Sendable {
    /// Fulfilled with the reason when the connection is lost or no longer usable.
    let ended = Promise<String>()
    private let number: UInt
    /// The subjects of the subscriptions in use. The pointers are only compared: libnats reports about a subscription
    /// without holding it, so it may be freed (3.4.1).
    private let subjects = Locked<[OpaquePointer: String]>([:])
    private let logger: Logger
    private let onViolation: @Sendable (PermissionViolation) -> Void

    private static let lastNumber = Atomic<UInt>(0)
    private static let live = Locked<[UInt: LibnatsEvents]>([:])

    /// Registers under a new number, until `forget()`.
    init(logger: Logger, onViolation: @escaping @Sendable (PermissionViolation) -> Void) {
        self.logger = logger
        self.onViolation = onViolation
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        Self.live.withLock { $0[number] = self }
    }

    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    fileprivate static func find(_ context: UnsafeMutableRawPointer?) -> LibnatsEvents? {
        live.withLock { $0[UInt(bitPattern: context)] }
    }

    func forget() {
        Self.live.withLock { $0[number] = nil }
    }

    /// Keeps the subject of a subscription while it is in use; nil removes it.
    func setSubject(_ subject: String?, of subscription: OpaquePointer) {
        subjects.withLock { $0[subscription] = subject }
    }

    fileprivate func reportDropped(_ subscription: OpaquePointer?) {
        let subject = subscription.flatMap { address in subjects.withLock { $0[address] } }
        logger.warning(
            "messages dropped: a handler is too slow", metadata: subject.map { ["subject": "\($0)"] })
    }

    fileprivate func report(_ error: String) {
        logger.warning("NATS reports an error", metadata: ["error": "\(error)"])
        if let violation = PermissionViolation(reported: error) { onViolation(violation) }
    }
}

/// `natsConnectionHandler`: either side has closed the connection.
func connectionClosed(_ connection: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    LibnatsEvents.find(context)?.ended.fulfil(.success(lastError(of: connection)))
}

/// `natsErrHandler`: messages dropped, permissions violated and the like; the connection stays open.
func connectionReported(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
    _ context: UnsafeMutableRawPointer?
) {
    guard let events = LibnatsEvents.find(context) else { return }
    if status == NATS_SLOW_CONSUMER {
        events.reportDropped(subscription)
    } else {
        // The connection keeps the text of its newest error only; the text of this one is set during the call.
        let violation = status == NATS_NOT_PERMITTED ? nats_GetLastError(nil).map { String(cString: $0) } : nil
        events.report(violation ?? lastError(of: connection))
    }
}

private func lastError(of connection: OpaquePointer?) -> String {
    var text: UnsafePointer<CChar>?
    let status = natsConnection_GetLastError(connection, &text)
    let words = text.map { String(cString: $0) } ?? ""
    if !words.isEmpty { return words }
    return status == NATS_OK ? "closed by the server" : NATSError(status).description
}
