import Hosting
import Journal
import Locking
import Metrics
import NATSClient
import StrokeWire
import Whiteboard

/// Routes messages on the service's subjects to the workers. Runs on the connection's threads and never blocks
/// them.
final class SubjectRouter: Sendable {
    private let configuration: ServerConfiguration
    private let workers: RoomWorkers
    private let listing: RoomListing
    private let sink: ReplySink
    private let metrics: ServerMetrics
    private let subjects: Locked<InboundSubjectCache>

    init(
        configuration: ServerConfiguration, workers: RoomWorkers, listing: RoomListing, sink: ReplySink,
        metrics: ServerMetrics
    ) {
        self.configuration = configuration
        self.workers = workers
        self.listing = listing
        self.sink = sink
        self.metrics = metrics
        subjects = Locked(InboundSubjectCache(root: configuration.root))
    }

    /// Subscribes to the samples of video clocks, and to strokes being drawn.
    func subscribeToClocks(on connection: NATSConnection) throws(NATSError) {
        for kind in ["clock.*", "wet-in.*"] {
            _ = try connection.subscribe("\(configuration.root).*.*.\(kind)", on: .connection) { self.route($0) }
        }
        let batches = "\(configuration.root).*.clocks"
        _ = try connection.subscribe(batches, on: .connection) { self.routeBatch($0) }
    }

    /// Subscribes to what clients ask for.
    func subscribeToRequests(on connection: NATSConnection) throws(NATSError) {
        let root = configuration.root
        for kind in [
            "join.*", "join-head", "image.*", "image-head", "replay.*", "replay-head", "asset.*", "asset-head", "info",
        ] {
            _ = try connection.subscribe("\(root).*.*.\(kind)") { self.route($0) }
        }
        _ = try connection.subscribe("\(root).rooms") { [listing] message in
            guard let reply = message.reply, ReplySink.isInbox(reply) else { return }
            listing.ask(reply)
        }
    }

    private func route(_ message: borrowing NATSMessage) {
        guard let subject = message.withSubject({ bytes in subjects.withLock { $0.subject(bytes) } }) else {
            return decline(message, RequestError(.badRequest, Rejection.misaddressed(to: nil).message))
        }
        guard subject.address.isCanonical(among: configuration.partitions) else {
            return decline(message, otherPartition(subject.address))
        }
        let worker = workers[subject.address.room]
        if case .clock(let cohort) = subject.kind {
            worker.post(
                .clock(
                    IncomingSample(
                        room: subject.address.room, partition: subject.address.partition, cohort: cohort,
                        bytes: message.copyPayload(), arrivedAt: MonotonicClock.now())))
            return
        }
        if case .wetInput(let author) = subject.kind {
            // Larger ones are counted like those that cannot be decoded.
            let isTooLarge = message.payloadSize > WetUpdate.maximumBytes
            worker.post(
                .wet(
                    IncomingWetUpdate(
                        room: subject.address.room, partition: subject.address.partition, author: author,
                        session: HeaderName.validSession(message.header(HeaderName.session)),
                        bytes: isTooLarge ? [] : message.copyPayload())))
            return
        }
        guard let reply = message.reply, ReplySink.isInbox(reply), let kind = RoomRequest.Kind(subject.kind) else {
            return
        }
        worker.post(
            .request(
                RoomRequest(
                    kind: kind, address: subject.address, payload: message.copyPayload(), reply: reply,
                    arrivedAt: MonotonicClock.now())))
    }

    /// Gives each room of a ``ClockBatch`` its samples.
    private func routeBatch(_ message: borrowing NATSMessage) {
        guard let partition = ClockBatch.partition(ofSubject: message.subject, root: configuration.root) else { return }
        let arrivedAt = MonotonicClock.now()
        let batch: ClockBatch
        do throws(Rejection) {
            guard message.payloadSize <= ClockBatch.byteLimit else {
                throw Rejection.tooLarge(bytes: message.payloadSize, limit: ClockBatch.byteLimit)
            }
            batch = try ClockBatch(decoding: message.copyPayload())
        } catch {
            metrics.samplesRejected.increment()
            return decline(message, RequestError(.badRequest, error.message))
        }
        var rejected = batch.rejected
        var elsewhere: RoomAddress?
        for (room, samples) in batch.samples {
            let address = RoomAddress(root: configuration.root, partition: partition, room: room)
            guard address.isCanonical(among: configuration.partitions) else {
                elsewhere = address
                rejected += samples.count
                continue
            }
            for (cohort, bytes) in samples {
                workers[room].post(
                    .clock(
                        IncomingSample(
                            room: room, partition: partition, cohort: cohort, bytes: bytes, arrivedAt: arrivedAt)))
            }
        }
        if rejected > 0 { metrics.samplesRejected.increment(by: rejected) }
        if let elsewhere { decline(message, otherPartition(elsewhere)) }
    }

    private func decline(_ message: borrowing NATSMessage, _ error: @autoclosure () -> RequestError) {
        if let reply = message.reply, ReplySink.isInbox(reply) { sink.refuse(reply, error()) }
    }

    /// The client assumes another number of partitions than the service.
    private func otherPartition(_ address: RoomAddress) -> RequestError {
        let count = configuration.partitions
        let partition = RoomAddress.partition(of: address.room, among: count)
        return RequestError(
            .badRequest,
            """
            The room \(address.room) is in partition \(partition), not \(address.partition): the number of \
            partitions is \(count) here, and clients have to use the same one.
            """, partitions: count)
    }
}

extension RoomRequest.Kind {
    fileprivate init?(_ kind: RoomSubject) {
        switch kind {
        case .join(let cohort): self = .join(.cohort(cohort))
        case .joinHead: self = .join(.head)
        case .image(let cohort): self = .image(.cohort(cohort))
        case .imageHead: self = .image(.head)
        case .replay(let cohort): self = .replay(.cohort(cohort))
        case .replayHead: self = .replay(.head)
        case .asset(let cohort): self = .asset(.cohort(cohort))
        case .assetHead: self = .asset(.head)
        case .info: self = .info
        default: return nil
        }
    }
}
