import Journal
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// Takes the commands of people who look after rooms, and answers requests for the audit log. The daemons of a root share
/// both: each command goes to one of them, whichever partition it is about.
///
/// A command is recorded in the audit log, carried out, and recorded again with its outcome; where it cannot be recorded, it
/// is refused. Bounded: ``underWay`` are carried out at a time and ``waiting`` wait; others are answered `not-ready`. Safe
/// from any thread.
final class CommandReceiver: Sendable {
    /// Commands that are carried out at the same time.
    private static let underWay = 4
    /// Commands that wait or are being carried out.
    private static let waiting = 64

    private let root: String
    private let connection: NATSConnection
    private let executor: CommandExecutor
    /// Nil without a journal: then the daemon's log has the audit alone.
    private let audit: AuditLog?
    private let sink: ReplySink
    private let metrics: ServerMetrics
    private let logger: Logger
    private let permits = Permits(waiting)
    private let works: AsyncStream<Work>
    private let inlet: AsyncStream<Work>.Continuation
    private let isClosing = Atomic(false)

    private enum Work: Sendable {
        case command(CommandRequest, from: OperatorName, reply: String)
        case listing(AuditRequest, reply: String)
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
        (works, inlet) = AsyncStream.makeStream(of: Work.self)
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
                self.add(.listing(try AuditRequest(decoding: message.copyPayload()), reply: reply), reply)
            } catch {
                self.sink.refuse(reply, RequestError(.badRequest, error.message))
            }
        }
    }

    private func take(from who: Substring, _ body: [UInt8], _ reply: String) {
        guard let who = OperatorName(who) else {
            metrics.count(CommandOutcome.badRequest)
            return sink.refuse(reply, .badOperatorName)
        }
        do throws(Rejection) {
            let request = try CommandRequest(decoding: body)
            if !add(.command(request, from: who, reply: reply), reply) { metrics.count(CommandOutcome.notReady) }
        } catch {
            metrics.count(CommandOutcome.badRequest)
            sink.refuse(reply, RequestError(.badRequest, error.message))
        }
    }

    @discardableResult
    private func add(_ work: Work, _ reply: String) -> Bool {
        guard permits.acquire() else {
            sink.refuse(reply, .busy)
            return false
        }
        if case .terminated = inlet.yield(work) {
            permits.release()
            sink.refuse(reply, .shuttingDown)
            return false
        }
        return true
    }

    /// Makes the audit log's stream, and carries commands out until ``close()`` or until cancelled.
    func run() async {
        let provisioning = Task { await provision() }
        defer { provisioning.cancel() }
        await withTaskGroup(of: Void.self) { group in
            var active = 0
            for await work in works {
                if active == Self.underWay {
                    await group.next()
                    active -= 1
                }
                group.addTask { await self.perform(work) }
                active += 1
            }
        }
    }

    /// Takes no more commands. Those that wait are refused; ``run()`` returns when those being carried out are done.
    func close() {
        isClosing.store(true, ordering: .relaxed)
        inlet.finish()
    }

    /// Tries until the stream is there: who may make streams at the start only would lack it later.
    private func provision() async {
        guard let audit else { return }
        var wait: Duration = .seconds(1)
        while !Task.isCancelled {
            do throws(JournalError) {
                return try await audit.provision()
            } catch {
                logger.warning(
                    "commands are refused: the audit log cannot be made yet", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(60))
            }
        }
    }

    private func perform(_ work: Work) async {
        defer { permits.release() }
        switch work {
        case .command(let request, let who, let reply):
            if isClosing.load(ordering: .relaxed) { return sink.refuse(reply, .shuttingDown) }
            await carryOut(request, from: who, reply)
        case .listing(let request, let reply):
            if isClosing.load(ordering: .relaxed) { return sink.refuse(reply, .shuttingDown) }
            await list(request, reply)
        }
    }

    private func carryOut(_ request: CommandRequest, from who: OperatorName, _ reply: String) async {
        var entry = AuditEntry(request, from: who)
        do throws(JournalError) {
            try await audit?.record(entry)
        } catch {
            metrics.count(CommandOutcome.notReady)
            logger.warning("command refused: it cannot be recorded", metadata: ["error": "\(error)"])
            return sink.refuse(reply, RequestError(.notReady, "The command cannot be recorded: \(error)."))
        }
        let outcome: Result<CommandReply, RequestError>
        do throws(RequestError) {
            outcome = .success(
                try await executor.carryOut(request) { [sink] progress in
                    sink.send(progress.encoded(), [HeaderName.progress: "1"], reply)
                })
        } catch {
            outcome = .failure(error)
        }
        switch outcome {
        case .success(let done):
            metrics.count(CommandOutcome.done)
            entry.outcome = .done
            entry.detail = done.detail
        case .failure(let error):
            metrics.count(CommandOutcome.failed)
            entry.outcome = .failed
            entry.detail = error.message
        }
        logger.notice("command", metadata: entry.logMetadata)
        do throws(JournalError) {
            try await audit?.record(entry)
        } catch {
            logger.warning(
                "the outcome of a command cannot be recorded", metadata: ["id": "\(entry.id)", "error": "\(error)"])
        }
        switch outcome {
        case .success(let done): sink.send(done.encoded(), reply)
        case .failure(let error): sink.refuse(reply, error)
        }
    }

    private func list(_ request: AuditRequest, _ reply: String) async {
        guard let audit else {
            return sink.refuse(
                reply, RequestError(.noJournal, "Without a journal the audit log is in the daemon's log alone."))
        }
        do throws(JournalError) {
            sink.send(try await audit.page(request).encoded(), reply)
        } catch {
            sink.refuse(reply, RequestError(.notReady, "The audit log cannot be read: \(error)."))
        }
    }
}

/// Carries commands out. A new command is a case of `OperatorCommand` and one here.
struct CommandExecutor: Sendable {
    let root: String
    let partitions: Int
    /// Nil where decisions go over core NATS.
    let journal: JetStreamJournal?
    let connection: NATSConnection
    let revocations: RevocationRegister
    /// Nil where nothing is stored.
    let erasure: RoomErasure?

    /// - Parameter progress: to be called at least each ``CommandProgress/interval`` by what takes longer.
    func carryOut(
        _ request: CommandRequest, progress: @escaping @Sendable (CommandProgress) -> Void
    ) async throws(RequestError) -> CommandReply {
        switch request.command {
        case .close(let room): try await decide(.close, room, request.id)
        case .mute(let author, let room): try await decide(.mute(author), room, request.id)
        case .unmute(let author, let room): try await decide(.unmute(author), room, request.id)
        case .erase(let room): try await erase(room, request.id, progress)
        case .revoke(let revocation): try await revoke(revocation)
        }
    }

    private func erase(
        _ room: RoomID, _ id: String, _ progress: @escaping @Sendable (CommandProgress) -> Void
    ) async throws(RequestError) -> CommandReply {
        guard let erasure else {
            _ = try await decide(.erase, room, id)
            try? connection.publish(ErasedRoom(room: room, assets: []).encoded(), to: ErasedRoom.subject(root: root))
            return CommandReply(detail: "the room has ended; nothing is stored of it, for there is no journal")
        }
        let done = try await erasure.erase(
            room,
            decide: { () async throws(RequestError) in
                guard let sequence = try await decide(.erase, room, id).sequence else {
                    throw RequestError(.notReady, "The room's log has not taken the decision.")
                }
                return sequence
            },
            tell: { progress(CommandProgress($0.step, made: $0.made, of: $0.total)) })
        return CommandReply(sequence: done.sequence, detail: done.what)
    }

    private func revoke(_ revocation: Revocation) async throws(RequestError) -> CommandReply {
        do throws(RevocationRegister.Failure) {
            try await revocations.add(revocation)
        } catch {
            switch error {
            case .notReady(let why): throw RequestError(.notReady, why)
            case .full:
                throw RequestError(
                    .listFull,
                    """
                    There are \(RevocationTable.limit) revocations, as many as may be. Those of tokens that have ended make \
                    place; another key of tokens ends all at once.
                    """)
            }
        }
        guard journal == nil else { return CommandReply() }
        return CommandReply(detail: "it holds until the daemon ends, which keeps it in memory alone without a journal")
    }

    /// Writes a decision to the room's log, where it takes effect.
    private func decide(
        _ record: ControlRecord, _ room: RoomID, _ id: String
    ) async throws(RequestError) -> CommandReply {
        if let journal {
            do throws(JournalError) {
                return CommandReply(sequence: try await journal.write(record, room: room, id: id))
            } catch {
                throw RequestError(
                    .notReady,
                    "The room's log has not acknowledged the decision, and may have it all the same: \(error).")
            }
        }
        let address = RoomAddress(root: root, room: room, partitions: partitions)
        do throws(NATSError) {
            try connection.publish(record.encoded(), to: address.subject(.control))
            try await connection.flush()
        } catch {
            throw RequestError(.notReady, "The decision cannot be published: \(error).")
        }
        return CommandReply()
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

extension RequestError {
    fileprivate static let badOperatorName = RequestError(
        .badRequest, "The last token of the subject is a name: 1 to 64 characters of a-z, 0-9, _ and -.")
}
