internal import CNATS
internal import Locking
internal import Logging

/// One `natsConnection`, from connect to close; then the supervisor makes the next one.
///
/// Any thread may publish and subscribe. `open`, `flush`, `drain` and `shutDown` block: the supervisor calls them on
/// its own thread, and `PublishConfirmation` calls `flush` on another.
final class LibnatsConnection: Sendable {
    let events: LibnatsEvents
    /// `NATSConnection.generation`, from 1.
    let number: UInt64
    /// Fulfilled when no handler runs any more and none will.
    let handlersFinished = Promise<Void>()
    /// Owned until `deinit`: a holder of this object never uses freed memory.
    nonisolated(unsafe) let raw: OpaquePointer
    private let subscriptions = Locked(SubscriptionTable())
    private let pendingLimits: (messages: Int32, bytes: Int32)
    private let maxBufferedBytes: Int
    private let loop: SocketLoop

    private init(
        raw: OpaquePointer, number: UInt64, loop: SocketLoop, events: LibnatsEvents, settings: NATSSettings
    ) {
        self.raw = raw
        self.number = number
        self.loop = loop
        self.events = events
        pendingLimits = settings.pendingLimits
        maxBufferedBytes = settings.maxBufferedBytes
    }

    deinit {
        loop.stop()
        natsConnection_Destroy(raw)
        // Only now: libnats' reader may still hold a subscription that it has just looked up.
        for subscription in subscriptions.withLock({ $0.all }) { natsSubscription_Destroy(subscription) }
    }

    /// Leaves OpenSSL's tables where they are at the end of the process. By default `exit` frees them, while libnats' threads may
    /// still close a connection with TLS: a crash.
    private static let keepsOpenSSL = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Connects; tries each server of the list once. Blocks for up to `connectTimeout` per server.
    /// - Parameters:
    ///   - rounds: has the observer of deliveries to direct subscriptions.
    ///   - onViolation: called on libnats' callback thread when the server does not permit something.
    static func open(
        _ settings: NATSSettings, number: UInt64, rounds: DeliveryRounds, logger: Logger,
        onViolation: @escaping @Sendable (PermissionViolation) -> Void
    ) throws(NATSError) -> LibnatsConnection {
        let events = LibnatsEvents(logger: logger, onViolation: onViolation)
        do throws(NATSError) {
            let isSecure = try settings.isSecure
            if isSecure { _ = keepsOpenSSL }
            let loop = try SocketLoop(
                writeDeadline: settings.writeDeadline, publishersWrite: !isSecure, rounds: rounds
            ) { [ended = events.ended] reason in
                ended.fulfil(.success(reason))
            }
            let raw = try settings.withOptions(context: events.context, loop: loop) { options throws(NATSError) in
                var raw: OpaquePointer?
                let status = natsConnection_Connect(&raw, options)
                guard status == NATS_OK, let raw else { throw NATSError(connecting: status) }
                return raw
            }
            return LibnatsConnection(raw: raw, number: number, loop: loop, events: events, settings: settings)
        } catch {
            events.forget()
            throw error
        }
    }

    /// Fulfils `events.ended`, upon which the supervisor shuts the connection down. Any thread.
    func end(_ reason: String) { events.ended.fulfil(.success(reason)) }

    /// Sends a PING behind all that was published, and waits for its PONG. Blocks.
    func flush(timeout: Duration) throws(NATSError) {
        // The PING is in libnats' buffer, the batches are not.
        loop.waitUntilWritten(for: timeout)
        let status = natsConnection_FlushTimeout(raw, timeout.wholeMilliseconds)
        guard status == NATS_OK else { throw NATSError(status) }
    }

    /// Ends the subscriptions, and waits until their handlers have processed what the server had for them. Blocks.
    func drainSubscriptions(until deadline: ContinuousClock.Instant) {
        let subscriptions = subscriptions.withLock { $0.inUse }
        let limit = (deadline - .now).wholeMilliseconds
        for raw in subscriptions { _ = natsSubscription_DrainTimeout(raw, limit) }
        for raw in subscriptions {
            _ = natsSubscription_WaitForDrainCompletion(raw, (deadline - .now).wholeMilliseconds)
        }
        // The thread that handles the PONG has handled the messages of direct subscriptions before.
        _ = natsConnection_FlushTimeout(raw, (deadline - .now).wholeMilliseconds)
    }

    /// Drains the subscriptions, waits until the server has what was published, and ends the connection. Blocks.
    ///
    /// Not libnats' own drain: that closes the connection on a thread of its own while the loop may read from it.
    func drain(timeout: Duration) {
        let deadline = ContinuousClock.now + timeout
        drainSubscriptions(until: deadline)
        try? flush(timeout: deadline - .now)
        end("drained")
    }

    /// Closes. With `flushing` the buffer is sent first, if the server takes it within half a second. Blocks.
    func shutDown(flushing: Bool) {
        if flushing { try? flush(timeout: .milliseconds(500)) }
        loop.stop()
        natsConnection_Close(raw)
        events.forget()
        if subscriptions.withLock({ $0.close() }) { handlersFinished.fulfil(.success(())) }
    }

    /// The server's limit for headers and body together, in bytes.
    var maxPayload: Int { Int(natsConnection_GetMaxPayload(raw)) }

    /// Bytes that wait for the socket.
    var bufferedBytes: Int { max(0, Int(natsConnection_Buffered(raw))) + loop.unwrittenBytes }

    /// - Throws: `.backlogged` when the next message would have to wait: for space in the buffer, or for a write over
    ///   TLS, which holds libnats' lock for as long as the socket is full.
    func checkBacklog() throws(NATSError) {
        guard loop.writeDuration <= .milliseconds(100), bufferedBytes <= maxBufferedBytes else {
            throw .backlogged(limit: maxBufferedBytes)
        }
    }

    /// Whether a batch may be written as bytes of the protocol; otherwise its messages go through libnats.
    var takesBytes: Bool { loop.publishersWrite && natsConnection_HasHeaderSupport(raw) == NATS_OK }

    /// Writes a batch, whole messages of the protocol, or has the loop do so. Takes its bytes. Never waits for the socket.
    func publish(_ batch: inout [UInt8]) { loop.publish(&batch, on: raw) }

    /// What is published through libnats from now on is written to the socket at `endBatch`, or earlier.
    func beginBatch() { loop.beginBatch() }
    func endBatch() { loop.endBatch() }

    /// Hands a message to libnats, which copies it into its write buffer. Never waits for the socket: the loop writes.
    /// - Precondition: the subjects are valid.
    func publish(
        _ payload: UnsafeRawBufferPointer, to subject: String, reply: String?, headers: NATSHeaders
    ) throws(NATSError) {
        guard let size = Int32(exactly: payload.count) else {
            throw .payloadTooLarge(size: payload.count, limit: maxPayload)
        }
        try checkBacklog()
        let body = payload.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status: natsStatus
        if !headers.isEmpty {
            status = try publish(body, size, to: subject, reply: reply, with: headers)
        } else if let reply {
            status = natsConnection_PublishRequest(raw, subject, reply, body, size)
        } else {
            status = natsConnection_Publish(raw, subject, body, size)
        }
        switch status {
        // Another thread's batch may be open.
        case NATS_OK: loop.writeSoon()
        case NATS_MAX_PAYLOAD: throw .payloadTooLarge(size: payload.count, limit: maxPayload)
        default: throw NATSError(status)
        }
    }

    private func publish(
        _ body: UnsafePointer<CChar>?, _ size: Int32, to subject: String, reply: String?, with headers: NATSHeaders
    ) throws(NATSError) -> natsStatus {
        var created: OpaquePointer?
        let status = natsMsg_Create(&created, subject, reply, body, size)
        guard status == NATS_OK, let message = created else { return status }
        defer { natsMsg_Destroy(message) }
        try headers.write(to: message)
        return natsConnection_PublishMsg(raw, message)
    }
}

/// Subscriptions.
extension LibnatsConnection {
    /// Makes a subscription in libnats. The handler may be called before this returns.
    func subscribe(_ subscription: NATSSubscription) throws(NATSError) {
        guard subscription.thread == .shared else { return try subscribeDirectly(subscription) }
        let context = Unmanaged.passRetained(DeliveryContext(to: subscription.handler, of: self))
        var created: OpaquePointer?
        let status: natsStatus
        if let queue = subscription.queue {
            status = natsConnection_QueueSubscribe(
                &created, raw, subscription.subject, queue, deliverMessage, context.toOpaque())
        } else {
            status = natsConnection_Subscribe(&created, raw, subscription.subject, deliverMessage, context.toOpaque())
        }
        guard status == NATS_OK, let created else {
            context.release()
            throw NATSError(status)
        }
        prepare(created, for: subscription)
        // Refused when the connection has closed since the line above. Then nothing tells when the last call to the
        // context is over: its few bytes are leaked rather than released too early.
        let completion = natsSubscription_SetOnCompleteCB(created, completeDelivery, context.toOpaque())
        subscriptions.withLock { $0.add(created, for: subscription.id, completes: completion == NATS_OK) }
    }

    private func subscribeDirectly(_ subscription: NATSSubscription) throws(NATSError) {
        var created: OpaquePointer?
        let status =
            if let queue = subscription.queue {
                natsConnection_QueueSubscribeSync(&created, raw, subscription.subject, queue)
            } else {
                natsConnection_SubscribeSync(&created, raw, subscription.subject)
            }
        guard status == NATS_OK, let created else { throw NATSError(status) }
        prepare(created, for: subscription)
        subscriptions.withLock { $0.add(created, for: subscription.id, completes: false) }
        loop.add(DirectSubscription(created, handler: subscription.handler))
    }

    private func prepare(_ created: OpaquePointer, for subscription: NATSSubscription) {
        events.setSubject(subscription.subject, of: created)
        _ = natsSubscription_SetPendingLimits(created, pendingLimits.messages, pendingLimits.bytes)
    }

    /// Ends a subscription but keeps its memory: libnats' reader may hold a subscription that it has just looked up,
    /// and destroying that one under traffic crashes (3.4.1).
    /// - Returns: whether `sweep` is due.
    func unsubscribe(_ id: ObjectIdentifier) -> Bool {
        // Reads what it dropped; libnats does not tell once it has ended.
        _ = dropped
        guard let raw = subscriptions.withLock({ $0.remove(id) }) else { return false }
        events.setSubject(nil, of: raw)
        loop.remove(raw)
        _ = natsSubscription_Unsubscribe(raw)
        return subscriptions.withLock { $0.retire(raw) }
    }

    /// Destroys the subscriptions that were ended before this call. Blocks for a round trip: when the reader thread has
    /// seen the PONG, it no longer holds what it looked up before.
    func sweep(timeout: Duration) {
        let retired = subscriptions.withLock { $0.takeRetired() }
        do {
            try flush(timeout: timeout)
            for raw in retired { natsSubscription_Destroy(raw) }
        } catch {
            subscriptions.withLock { $0.putBack(retired) }
        }
    }

    /// Called on the delivery thread when a subscription delivers nothing more.
    fileprivate func deliveryCompleted() {
        if subscriptions.withLock({ $0.complete() }) { handlersFinished.fulfil(.success(())) }
    }

    /// Messages dropped so far because a handler was too slow. Asks libnats, which takes a lock per subscription.
    var dropped: Int {
        subscriptions.withLock { table in
            table.dropped { raw in
                var dropped: Int64 = 0
                return natsSubscription_GetDropped(raw, &dropped) == NATS_OK ? Int(dropped) : nil
            }
        }
    }
}

/// The context of one subscription in libnats.
///
/// It is retained when the subscription is made, and released by the completion callback, which libnats calls on the
/// delivery thread after the last message: a message callback may run after unsubscribe has returned.
private final class DeliveryContext: Sendable {
    let handler: @Sendable (borrowing NATSMessage) -> Void
    private let connection: LibnatsConnection

    init(to handler: @escaping @Sendable (borrowing NATSMessage) -> Void, of connection: LibnatsConnection) {
        self.handler = handler
        self.connection = connection
    }

    func complete() { connection.deliveryCompleted() }
}

/// `natsMsgHandler`, on the delivery thread; takes ownership of the message.
private func deliverMessage(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?
) {
    guard let message, let context else { return }
    let owned = NATSMessage(owning: message)
    #if DEBUG
    let began = ThreadClock.now()
    defer { ThreadClock.checkDelivery(since: began, of: subscription) }
    #endif
    Unmanaged<DeliveryContext>.fromOpaque(context).takeUnretainedValue().handler(owned)
}

/// `natsOnCompleteCB`, on the delivery thread: nothing more is delivered to this context.
private func completeDelivery(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<DeliveryContext>.fromOpaque(context).takeRetainedValue().complete()
}

/// The libnats subscriptions of one connection, which owns the pointers.
struct SubscriptionTable {
    /// Ended subscriptions that are kept before `sweep` is due.
    static let maxRetired = 64

    private struct Entry {
        let raw: OpaquePointer
        /// Messages dropped, as last read: libnats does not tell once the subscription has ended.
        var dropped = 0
    }

    private var live: [ObjectIdentifier: Entry] = [:]
    /// Removed, and being ended in libnats.
    private var ending: Set<OpaquePointer> = []
    /// Ended in libnats, to be destroyed.
    private var retired: [OpaquePointer] = []
    /// Whether a sweep was requested that has not begun.
    private var isSweepPending = false
    private var droppedByRetired = 0
    /// Completion callbacks to come; below zero for a moment when one comes before `add`.
    private var completions = 0
    private var isClosed = false

    /// Subscriptions that have not ended.
    var inUse: [OpaquePointer] { live.values.map(\.raw) }

    /// Subscriptions that must still be destroyed.
    var all: [OpaquePointer] { retired + ending + live.values.map(\.raw) }

    mutating func add(_ raw: OpaquePointer, for id: ObjectIdentifier, completes: Bool) {
        live[id] = Entry(raw: raw)
        if completes { completions += 1 }
    }

    /// Removes a subscription, which the caller then ends in libnats and hands to `retire`.
    mutating func remove(_ id: ObjectIdentifier) -> OpaquePointer? {
        guard let entry = live.removeValue(forKey: id) else { return nil }
        ending.insert(entry.raw)
        droppedByRetired += entry.dropped
        return entry.raw
    }

    /// Lets the next sweep destroy a subscription that has ended in libnats.
    /// - Returns: whether a sweep is due. Subscriptions that a failed sweep has put back count: the next one is due at
    ///   once.
    mutating func retire(_ raw: OpaquePointer) -> Bool {
        ending.remove(raw)
        retired.append(raw)
        guard !isSweepPending, retired.count >= Self.maxRetired else { return false }
        isSweepPending = true
        return true
    }

    mutating func takeRetired() -> [OpaquePointer] {
        isSweepPending = false
        defer { retired = [] }
        return retired
    }

    mutating func putBack(_ subscriptions: [OpaquePointer]) { retired += subscriptions }

    /// Messages dropped by all subscriptions so far.
    /// - Parameter count: messages dropped by one subscription; nil when it has ended.
    mutating func dropped(_ count: (OpaquePointer) -> Int?) -> Int {
        var sum = droppedByRetired
        for (id, entry) in live {
            let dropped = count(entry.raw) ?? entry.dropped
            live[id]?.dropped = dropped
            sum += dropped
        }
        return sum
    }

    /// Counts a completion callback.
    /// - Returns: whether it was the last one after the close.
    mutating func complete() -> Bool {
        completions -= 1
        return isClosed && completions == 0
    }

    /// Ends the adding of subscriptions.
    /// - Returns: whether all completion callbacks have come.
    mutating func close() -> Bool {
        isClosed = true
        return completions == 0
    }
}
