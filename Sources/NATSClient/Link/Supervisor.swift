internal import Logging

/// Keeps a connection up: one session after the other, until it is told to close.
///
/// libnats gives a connection up for good on a generic `-ERR`, on the same authentication error twice, and now and
/// then on a valid nkey. So no session is mended; whatever ends it, the next one is made here, with all
/// subscriptions. Everything that blocks in libnats is called in this actor's own thread.
actor Supervisor {
    private let thread = BlockingExecutor(label: "nats supervisor")
    private let logger: Logger

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(logger: Logger) {
        self.logger = logger
    }

    /// Connects and reconnects until the link is closed; returns when no handler runs any more.
    func run(_ link: Link) async {
        var last: Session?
        while !link.isClosing {
            if let session = open(link) {
                last = session
                await serve(session, link)
            }
            _ = await link.closing.value(within: link.settings.drawReconnectWait())
        }
        _ = await last?.quiet.value()
        link.finish()
    }

    /// Waits for everything sent before to reach the server.
    func flush(_ session: Session, timeout: Duration) throws(NATSError) {
        try session.flush(timeout: timeout)
    }

    /// Starts to drain; the session ends by itself.
    func drain(_ session: Session, timeout: Duration) throws(NATSError) {
        try session.drain(timeout: timeout)
    }

    /// Frees the subscriptions that have ended.
    func sweep(_ session: Session) {
        session.sweep(timeout: .seconds(2))
    }

    private func open(_ link: Link) -> Session? {
        do throws(NATSError) {
            return try Session.open(link.settings, logger: logger) { link.denied($0) }
        } catch {
            note(error, link)
            return nil
        }
    }

    private func serve(_ session: Session, _ link: Link) async {
        do throws(NATSError) {
            try link.adopt(session)
            // Once it is announced, the server knows the subscriptions.
            try session.flush(timeout: link.settings.connectTimeout)
            logger.info("connected to NATS")
            link.enter(.connected)
            link.connected.fulfil(.success(()))
        } catch {
            note(error, link)
            session.end("not usable")
        }
        let reason = await session.events.ended.value()
        link.part(from: session)
        if link.state == .connected, !link.isClosing {
            logger.warning("connection to NATS lost", metadata: ["reason": "\((try? reason.get()) ?? "")"])
            link.enter(.disconnected)
        }
        session.shutDown()
    }

    /// Logs why there is no connection, once for the same reason again and again.
    private func note(_ error: NATSError, _ link: Link) {
        guard link.failed(error) else { return }
        logger.warning("cannot connect to NATS; trying on", metadata: ["error": "\(error)"])
    }
}
