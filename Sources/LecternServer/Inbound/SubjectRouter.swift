import Journal
import NATSClient
import StrokeWire

/// Turns what arrives on the subjects into items for the workers. Runs on the delivery thread and never blocks it.
struct SubjectRouter: Sendable {
    let configuration: ServerConfiguration
    let workers: RoomWorkers
    let listing: ListingDesk
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
            listing.ask(reply)
        }
    }

    private func route(_ message: borrowing NATSMessage) {
        guard let subject = InboundSubject(message.subject, root: configuration.root) else {
            return decline(message, Self.noSuchSubject)
        }
        guard subject.address.isCanonical(among: configuration.partitions) else {
            return decline(message, otherPartition(subject.address))
        }
        let worker = workers[subject.address.room]
        if case .clock(let cohort) = subject.kind {
            worker.post(.clock(subject.address, cohort, message.copyPayload()))
            return
        }
        // The service answers inboxes only: nobody can make it publish on a subject of another's.
        guard let reply = message.reply, Self.isInbox(reply), let kind = RoomRequest.Kind(subject.kind) else { return }
        worker.post(
            .request(RoomRequest(kind: kind, address: subject.address, payload: message.copyPayload(), reply: reply)))
    }

    private func decline(_ message: borrowing NATSMessage, _ error: @autoclosure () -> RequestError) {
        if let reply = message.reply, Self.isInbox(reply) { refuse(reply, error()) }
    }

    /// The client and the service do not agree on the number of partitions.
    private func otherPartition(_ address: RoomAddress) -> RequestError {
        let count = configuration.partitions
        let partition = RoomAddress.partition(of: address.room, among: count)
        return RequestError(
            .badRequest,
            """
            The room \(address.room) is in partition \(partition), not \(address.partition): there are \(count) here, \
            and clients have to know that number.
            """)
    }

    private static let noSuchSubject = RequestError(
        .badRequest, "The subject is no room's: names have 1 to 64 characters of a-z, 0-9, _ and -.")

    private static func isInbox(_ subject: String) -> Bool { subject.hasPrefix("_INBOX.") }
}

extension RoomRequest.Kind {
    fileprivate init?(_ kind: RoomSubject) {
        switch kind {
        case .join(let cohort): self = .join(cohort)
        case .image(let cohort): self = .image(cohort)
        case .info: self = .info
        default: return nil
        }
    }
}
