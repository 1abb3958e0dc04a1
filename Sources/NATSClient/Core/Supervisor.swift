internal import Dispatch
internal import Logging

/// Makes one libnats connection after the other, until it is told to close.
///
/// libnats gives a connection up for good after a generic `-ERR`, after the same authentication error twice, and now
/// and then after a valid nkey. So no connection is repaired: whatever ends it, the supervisor makes the next one, with
/// all subscriptions. Everything that blocks in libnats runs on this actor's own thread.
actor Supervisor {
    private let thread = BlockingExecutor(label: "nats supervisor")
    private let logger: Logger

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(logger: Logger) {
        self.logger = logger
    }

    /// Connects and reconnects until the core is closing; returns when no handler runs any more.
    func run(_ core: ConnectionCore) async {
        var last: LibnatsConnection?
        while !core.isClosing {
            if let connection = open(core) {
                last = connection
                await serve(connection, core)
            }
            _ = await core.closing.value(within: core.settings.drawReconnectWait())
        }
        _ = await last?.handlersFinished.value()
        core.finish()
    }

    /// Drains a connection, which is over then.
    func drain(_ connection: LibnatsConnection, timeout: Duration) {
        connection.drain(timeout: timeout)
    }

    /// Ends a connection's subscriptions when their handlers have finished.
    func drainSubscriptions(of connection: LibnatsConnection, timeout: Duration) {
        connection.drainSubscriptions(until: .now + timeout)
    }

    /// Frees the subscriptions that have ended.
    func sweep(_ connection: LibnatsConnection) {
        connection.sweep(timeout: .seconds(2))
    }

    private func open(_ core: ConnectionCore) -> LibnatsConnection? {
        do throws(NATSError) {
            return try LibnatsConnection.open(
                core.settings, number: core.generation + 1, rounds: core.rounds, logger: logger
            ) {
                core.report($0)
            }
        } catch {
            log(error, core)
            return nil
        }
    }

    private func serve(_ connection: LibnatsConnection, _ core: ConnectionCore) async {
        do throws(NATSError) {
            try core.attach(connection)
            // The server knows all subscriptions before the state becomes `connected`.
            try connection.flush(timeout: core.settings.connectTimeout)
            logger.info("connected to NATS")
            core.enter(.connected)
            core.connected.fulfil(.success(()))
        } catch {
            log(error, core)
            connection.end("not usable")
        }
        let heartbeat = Task { await Self.watch(connection, core) }
        let reason = await connection.events.ended.value()
        heartbeat.cancel()
        core.detach(connection)
        if core.state == .connected, !core.isClosing {
            let text = (try? reason.get()) ?? ""
            logger.warning("connection to NATS lost", metadata: ["reason": "\(text)"])
            core.count(ConnectionLoss(reason: text))
            core.enter(.disconnected)
        }
        connection.shutDown(flushing: core.isClosing)
    }

    /// Ends a connection whose server does not answer PINGs; the socket may show nothing of that.
    private static func watch(_ connection: LibnatsConnection, _ core: ConnectionCore) async {
        let settings = core.settings
        while (try? await Task.sleep(for: settings.pingInterval)) != nil {
            let limit = settings.pingInterval * max(1, settings.unansweredPings)
            switch await core.confirmation.request({ connection }).value(within: limit) {
            case .success: continue
            case .failure(.timeout): return connection.end("no answer to a PING")
            case .failure: return
            }
        }
    }

    /// Logs why there is no connection; the same reason in a row is logged once.
    private func log(_ error: NATSError, _ core: ConnectionCore) {
        guard core.setLastError(error) else { return }
        logger.warning(
            "cannot connect to NATS; retrying", metadata: ["error": "\(error)", "servers": "\(core.settings.place)"])
    }
}

/// A thread for an actor whose calls block: libnats connects, flushes and closes in the calling thread. Neither Swift's
/// own pool nor a thread of libnats may wait for that.
private final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
