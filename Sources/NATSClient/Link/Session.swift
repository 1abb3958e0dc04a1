internal import CNATS
internal import Logging

/// One `natsConnection`, from the moment it is connected to its end; then the supervisor makes another.
///
/// Any thread may publish and subscribe. `open`, `flush` and `shutDown` block and belong to the supervisor's thread.
final class Session: Sendable {
    let events: SessionEvents
    /// Ours until `deinit`, so that who still holds the session never uses freed memory.
    nonisolated(unsafe) let raw: OpaquePointer
    let table = Locked(SubscriptionTable())
    /// No handler runs any more, and none will.
    let quiet = Promise<Void>()
    let pendingLimits: (messages: Int32, bytes: Int32)

    private init(raw: OpaquePointer, events: SessionEvents, settings: NATSSettings) {
        self.raw = raw
        self.events = events
        pendingLimits = settings.pendingLimits
    }

    deinit {
        natsConnection_Destroy(raw)
        // Only now: libnats' reader may hold a subscription that it has just looked up.
        for subscription in table.withLock({ $0.all }) { natsSubscription_Destroy(subscription) }
    }

    /// Connects, once to each server if need be. Blocks for as long as the servers and `connectTimeout` allow.
    /// - Parameter onDenial: told what the server does not permit, on libnats' thread for such callbacks.
    static func open(
        _ settings: NATSSettings, logger: Logger, onDenial: @escaping @Sendable (Denial) -> Void
    ) throws(NATSError) -> Session {
        let events = SessionEvents(logger: logger, onDenial: onDenial)
        do throws(NATSError) {
            let raw = try settings.withOptions(session: events.context) { options throws(NATSError) in
                var raw: OpaquePointer?
                let status = natsConnection_Connect(&raw, options)
                guard status == NATS_OK, let raw else { throw NATSError(connecting: status) }
                return raw
            }
            return Session(raw: raw, events: events, settings: settings)
        } catch {
            events.forget()
            throw error
        }
    }

    /// Done with: whoever waits for `events.ended` goes on. Any thread.
    func end(_ reason: String) {
        events.ended.fulfil(.success(reason))
    }

    /// A PING and its PONG. Blocks.
    func flush(timeout: Duration) throws(NATSError) {
        let status = natsConnection_FlushTimeout(raw, timeout.wholeMilliseconds)
        guard status == NATS_OK else { throw NATSError(status) }
    }

    /// Stops the subscriptions, lets their handlers finish what has arrived, then closes; `events.ended` tells when.
    func drain(timeout: Duration) throws(NATSError) {
        let status = natsConnection_DrainTimeout(raw, timeout.wholeMilliseconds)
        guard status == NATS_OK else { throw NATSError(status) }
    }

    /// Sends what is buffered, if the server still takes it within half a second, and closes. Blocks.
    func shutDown() {
        natsConnection_Close(raw)
        events.forget()
        if table.withLock({ $0.close() }) { quiet.fulfil(.success(())) }
    }

    /// The server's limit for headers and body together, in bytes.
    var maxPayload: Int {
        Int(natsConnection_GetMaxPayload(raw))
    }
}
