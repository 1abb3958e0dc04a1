import Dispatch
import Journal
import Locking
import Logging
import NATSClient
import StrokeWire

/// Takes the commands of people who look after rooms, and answers requests for the audit log. The daemons of a root share
/// both: each command goes to one of them, whichever partition it is about.
///
/// A command is recorded in the audit log, carried out, and recorded again with its outcome; where it cannot be recorded, it
/// is refused. Bounded by ``CommandQueue``: what it has no place for is answered `not-ready`. Safe from any thread.
final class CommandReceiver: Sendable {
    /// How often those that wait are sent a sign of life.
    private static let tellInterval = Duration.seconds(1)

    private let root: String
    private let connection: NATSConnection
    private let executor: CommandExecutor
    /// Nil without a journal: then the daemon's log has the audit alone.
    private let audit: AuditLog?
    private let sink: ReplySink
    private let metrics: ServerMetrics
    private let logger: Logger
    private let queue = Locked(CommandQueue<Work>())
    /// Sends pages of the audit log, which waits for the socket.
    private let pages = DispatchQueue(label: "lectern.audit")
    /// What has a slot of the queue.
    private let begun: AsyncStream<(work: Work, lane: Lane)>
    private let inlet: AsyncStream<(work: Work, lane: Lane)>.Continuation

    private typealias Lane = CommandQueue<Work>.Lane

    private enum Work: Sendable {
        case command(CommandRequest, from: OperatorName, reply: String)
        case listing(AuditRequest, reply: String)

        var reply: String {
            switch self {
            case .command(_, _, let reply), .listing(_, let reply): reply
            }
        }

        var lane: Lane {
            if case .command(let request, _, _) = self, case .erase = request.command { .erasures } else { .others }
        }
    }

    /// - Parameter connection: for requests; that of `sink`.
    init(
        root: String, connection: NATSConnection, executor: CommandExecutor, audit: AuditLog?, sink: ReplySink,
        metrics: ServerMetrics, logger: Logger
    ) {
        self.root = root
        self.connection = connection
        self.executor = executor
        self.audit = audit
        self.sink = sink
        self.metrics = metrics
        self.logger = logger
        (begun, inlet) = AsyncStream.makeStream()
    }

    /// Subscribes to commands and to requests for the audit log.
    func listen() throws(NATSError) {
        let prefix = CommandRequest.subjects(root: root).dropLast()
        _ = try connection.subscribe(CommandRequest.subjects(root: root), queue: CommandRequest.queue) { message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
            self.take(from: message.subject.dropFirst(prefix.count), message.copyPayload(), reply)
        }
        _ = try connection.subscribe(AuditRequest.subject(root: root), queue: CommandRequest.queue) { message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
            do throws(Rejection) {
                self.add(.listing(try AuditRequest(decoding: message.copyPayload()), reply: reply))
            } catch {
                self.sink.refuse(reply, RequestError(.badRequest, error.message))
            }
        }
    }

    private func take(from who: Substring, _ body: [UInt8], _ reply: String) {
        guard let who = OperatorName(who) else {
            metrics.commands.count(.badRequest)
            return sink.refuse(reply, .badOperatorName)
        }
        do throws(Rejection) {
            let request = try CommandRequest(decoding: body)
            add(.command(request, from: who, reply: reply))
        } catch {
            metrics.commands.count(.badRequest)
            sink.refuse(reply, RequestError(.badRequest, error.message))
        }
    }

    private func add(_ work: Work) {
        switch queue.withLock({ $0.add(work, to: work.lane, at: MonotonicClock.now()) }) {
        case nil: beginNext()
        case .full: refuse(work, .busy)
        case .closed: refuse(work, .shuttingDown)
        }
    }

    private func refuse(_ work: Work, _ error: RequestError) {
        if case .command = work { metrics.commands.count(.notReady) }
        sink.refuse(work.reply, error)
    }

    private func beginNext() {
        let (begun, dropped) = queue.withLock { $0.begin(at: MonotonicClock.now()) }
        for work in dropped {
            logger.warning("a command was dropped: its client heard nothing for too long")
            refuse(work, .waitedTooLong)
        }
        for (work, lane) in begun {
            guard case .terminated = inlet.yield((work, lane)) else { continue }
            refuse(work, .shuttingDown)
            queue.withLock { $0.end(in: lane) }
        }
    }

    /// Makes the audit log's stream, and carries commands out until ``close()`` or until cancelled.
    func run() async {
        let provisioning = Task { await provision() }
        defer { provisioning.cancel() }
        let telling = Task { await tellWaiting() }
        defer { telling.cancel() }
        await withDiscardingTaskGroup { group in
            for await (work, lane) in begun {
                group.addTask { [self] in
                    await perform(work)
                    queue.withLock { $0.end(in: lane) }
                    beginNext()
                }
            }
        }
    }

    /// Takes no more commands. Those that wait are refused; ``run()`` returns when those being carried out are done.
    func close() {
        for work in queue.withLock({ $0.close() }) { refuse(work, .shuttingDown) }
        inlet.finish()
    }

    /// Sends signs of life to commands that wait for a slot. While the connection is lost they are not counted as sent.
    private func tellWaiting() async {
        while (try? await Task.sleep(for: Self.tellInterval)) != nil {
            beginNext()
            guard connection.state == .connected else { continue }
            for (work, ahead) in queue.withLock({ $0.signOfLife(at: MonotonicClock.now()) }) {
                // A listing has one answer, and waits behind what takes milliseconds.
                guard case .command = work else { continue }
                sink.send(CommandProgress("waiting for \(ahead) other commands"), work.reply)
            }
        }
    }

    /// Tries until the stream is there: who may make streams at the start only would lack it later.
    private func provision() async {
        guard let audit else { return }
        await retrying(pauses: .seconds(1) ... .seconds(60)) { () async throws(JournalError) in
            try await audit.provision()
        } onFailure: {
            logger.warning("commands are refused: the audit log cannot be made yet", metadata: ["error": "\($0)"])
        }
    }

    private func perform(_ work: Work) async {
        // It was begun before close() and not yet carried out.
        if queue.withLock({ $0.isClosed }) { return refuse(work, .shuttingDown) }
        switch work {
        case .command(let request, let who, let reply): await carryOut(request, from: who, reply)
        case .listing(let request, let reply): await list(request, reply)
        }
    }

    private func carryOut(_ request: CommandRequest, from who: OperatorName, _ reply: String) async {
        var entry = AuditEntry(request, from: who)
        do throws(JournalError) {
            try await audit?.record(entry)
        } catch {
            metrics.commands.count(.notReady)
            logger.warning("command refused: it cannot be recorded", metadata: ["error": "\(error)"])
            return sink.refuse(reply, RequestError(.notReady, "The command cannot be recorded: \(error)."))
        }
        let answer: () -> Void
        do throws(RequestError) {
            let done = try await executor.carryOut(request) { [sink] in sink.send($0, reply) }
            metrics.commands.count(.done)
            (entry.outcome, entry.detail) = (.done, done.detail)
            answer = { [sink] in sink.send(done.encoded(), reply) }
        } catch {
            metrics.commands.count(.failed)
            (entry.outcome, entry.detail) = (.failed, error.message)
            answer = { [sink] in sink.refuse(reply, error) }
        }
        logger.notice("command", metadata: entry.logMetadata)
        do throws(JournalError) {
            try await audit?.record(entry)
        } catch {
            logger.warning(
                "the outcome of a command cannot be recorded", metadata: ["id": "\(entry.id)", "error": "\(error)"])
        }
        answer()
    }

    private func list(_ request: AuditRequest, _ reply: String) async {
        guard let audit else {
            return sink.refuse(
                reply, RequestError(.noJournal, "Without a journal the audit log is in the daemon's log alone."))
        }
        do throws(JournalError) {
            let page = try await audit.page(request)
            await pages.run { [sink] in sink.send(page.encoded(), reply) }
        } catch {
            sink.refuse(reply, RequestError(.notReady, "The audit log cannot be read: \(error)."))
        }
    }
}

/// What became of a command. The raw values are those of the metric's label.
enum CommandOutcome: String, CaseIterable {
    case done, failed
    case badRequest = "bad-request"
    /// Too many at once, or it could not be recorded.
    case notReady = "not-ready"
}

extension AuditEntry {
    /// Its fields in the daemon's log.
    fileprivate var logMetadata: Logger.Metadata {
        var fields: Logger.Metadata = ["id": "\(id)", "who": "\(who)", "command": "\(command)"]
        for (name, value) in [
            ("for", behalf), ("room", room), ("target", target), ("outcome", outcome?.rawValue), ("detail", detail),
        ] {
            if let value { fields[name] = "\(value)" }
        }
        return fields
    }
}

extension ReplySink {
    fileprivate func send(_ progress: CommandProgress, _ reply: String) {
        send(progress.encoded(), [HeaderName.progress: "1"], reply)
    }
}

extension RequestError {
    fileprivate static let waitedTooLong = RequestError(
        .notReady, "The command was not carried out: it had waited too long. Give it again.")
    fileprivate static let badOperatorName = RequestError(
        .badRequest, "The last token of the subject is a name: 1 to 64 characters of a-z, 0-9, _ and -.")
}
