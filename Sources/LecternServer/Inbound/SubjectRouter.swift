import Journal
import NATSClient
import StrokeWire

/// Turns what arrives on the subjects into items for the workers. Runs on the delivery thread and never blocks it.
struct SubjectRouter: Sendable {
    let configuration: ServerConfiguration
    let workers: [RoomWorker]

    /// Listens to everything but the journal, which reads its own subjects.
    func subscribe(on connection: NATSConnection) throws(NATSError) {
        let root = configuration.root
        for kind in ["clock.*", "join.*", "image.*", "info"] {
            _ = try connection.subscribe("\(root).*.*.\(kind)") { message in route(message) }
        }
        _ = try connection.subscribe("\(root).rooms") { message in
            guard let reply = message.reply, Self.isInbox(reply) else { return }
            let listing = RoomListing(reply: reply, workers: workers.count)
            for worker in workers { worker.post(.list(listing)) }
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
        else { return }
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

    private static func isInbox(_ subject: String) -> Bool { subject.hasPrefix("_INBOX.") }
}
