import Journal
import NATSClient
import StrokeWire

/// Turns what arrives on the subjects into items for the workers. Runs on the delivery thread and never blocks it.
struct SubjectRouter: Sendable {
    let configuration: ServerConfiguration
    let workers: [RoomWorker]
    /// Says no to a request.
    let refuse: @Sendable (_ reply: String, RequestError) -> Void

    /// Listens to everything but the journal, which reads its own subjects.
    func subscribe(on connection: NATSConnection) throws(NATSError) {
        let root = configuration.root
        for kind in ["clock.*", "join.*", "image.*", "info"] {
            _ = try connection.subscribe("\(root).*.*.\(kind)") { message in route(message) }
        }
        _ = try connection.subscribe("\(root).rooms") { message in
            guard let reply = message.reply, Self.isInbox(reply) else { return }
            for worker in workers { worker.post(.list(reply: reply)) }
        }
    }

    /// Rooms are pinned to workers by the hash of their name.
    func worker(for room: RoomID) -> RoomWorker {
        workers[RoomAddress.partition(of: room, among: workers.count)]
    }

    private func route(_ message: borrowing NATSMessage) {
        guard
            let subject = InboundSubject(message.subject, root: configuration.root),
            subject.address.isCanonical(among: configuration.partitions)
        else {
            if let reply = message.reply, Self.isInbox(reply) { refuse(reply, Self.noSuchSubject) }
            return
        }
        let worker = worker(for: subject.address.room)
        if case .clock(let cohort) = subject.kind {
            worker.post(.clock(subject.address.room, cohort, message.copyPayload()))
            return
        }
        // The service answers inboxes only: nobody can make it publish on a subject of another's.
        guard let reply = message.reply, Self.isInbox(reply) else { return }
        switch subject.kind {
        case .join(let cohort): worker.post(.join(subject.address.room, cohort, message.copyPayload(), reply: reply))
        case .image(let cohort): worker.post(.image(subject.address.room, cohort, message.copyPayload(), reply: reply))
        case .info: worker.post(.info(subject.address.room, reply: reply))
        default: break
        }
    }

    private static let noSuchSubject = RequestError(
        .badRequest, "The subject is no room's: names have 1 to 64 characters of a-z, 0-9, _ and -.")

    private static func isInbox(_ subject: String) -> Bool { subject.hasPrefix("_INBOX.") }
}
