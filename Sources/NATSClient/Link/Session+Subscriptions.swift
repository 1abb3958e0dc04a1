internal import CNATS

extension Session {
    /// Makes a subscription in libnats. The handler may be called before this returns.
    func subscribe(_ subscription: NATSSubscription) throws(NATSError) {
        let context = Unmanaged.passRetained(Delivery(to: subscription.handler, of: self))
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
        events.name(created, subscription.subject)
        _ = natsSubscription_SetPendingLimits(created, pendingLimits.messages, pendingLimits.bytes)
        // Refused when the connection has closed since the line above. Nothing would tell then when the last call to
        // the context is over, so it stays for good, some bytes, rather than being released too early.
        let completion = natsSubscription_SetOnCompleteCB(created, completeDelivery, context.toOpaque())
        table.withLock { $0.add(created, for: subscription.id, completes: completion == NATS_OK) }
    }

    /// Ends a subscription; whether `sweep` is due.
    ///
    /// Its memory stays: libnats' reader may hold a subscription that it has just looked up, and destroying that one
    /// under traffic crashes (3.4.1).
    func unsubscribe(_ id: ObjectIdentifier) -> Bool {
        // Counts what it dropped; libnats tells no more when it has ended.
        _ = dropped
        guard let (raw, sweepIsDue) = table.withLock({ $0.retire(id) }) else { return false }
        events.name(raw, nil)
        _ = natsSubscription_Unsubscribe(raw)
        return sweepIsDue
    }

    /// Destroys the subscriptions that were ended before this call. Blocks for a round trip: the thread that reads
    /// the PONG has let go of everything it looked up before.
    func sweep(timeout: Duration) {
        let retired = table.withLock { $0.takeRetired() }
        do {
            try flush(timeout: timeout)
            for raw in retired { natsSubscription_Destroy(raw) }
        } catch {
            table.withLock { $0.putBack(retired) }
        }
    }

    /// From the delivery thread: one context less.
    func deliveryCompleted() {
        if table.withLock({ $0.complete() }) { quiet.fulfil(.success(())) }
    }

    /// Messages dropped so far because a handler was too slow. Asks libnats, which takes a lock per subscription.
    var dropped: Int {
        table.withLock { table in
            table.dropped { raw in
                var dropped: Int64 = 0
                return natsSubscription_GetDropped(raw, &dropped) == NATS_OK ? Int(dropped) : nil
            }
        }
    }
}
