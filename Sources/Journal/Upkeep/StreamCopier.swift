import Logging
import NATSClient
import Whiteboard

/// Has the server copy the streams of a root, or undoes it.
struct StreamCopier {
    let root: String
    let jetStream: JetStream
    let logger: Logger

    /// The longest time in which a copy does not grow; then it is made anew, since the server may have given it up.
    private static let timeout = Duration.seconds(20)
    private static let attempts = 3

    /// Parks the logs and copies all streams. Copies that are there already are completed.
    func copy(_ layout: RepartitionLayout, _ onProgress: (Repartitioning.Progress) -> Void) async throws {
        for log in layout.logs where !log.isParked { try await log.park(jetStream) }
        for log in layout.logs {
            let originals = log.streams
            var copies = originals
            copies.areCopies = true
            let prefix = StreamIdentity(.log, of: try await jetStream.streamInfo(originals.log)).text
            for (stream, copy) in [(originals.checkpoint, copies.checkpoint), (originals.log, copies.log)]
            where layout.names.contains(stream) {
                try await self.copy(stream, to: copy, label: prefix, layout, onProgress)
            }
        }
    }

    /// Copies a stream by way of another copy, which is deleted then.
    ///
    /// A copy follows what it was made from by name. One of `INK_LOG_0` would take in what is written to the new
    /// `INK_LOG_0`, or lose what it has where that is shorter (nats-server 2.12.8).
    private func copy(
        _ stream: String, to copy: String, label: String, _ layout: RepartitionLayout,
        _ onProgress: (Repartitioning.Progress) -> Void
    ) async throws {
        onProgress(.copying(stream: stream, bytes: try await jetStream.streamInfo(stream).bytes))
        let relay = layout.relay(for: copy)
        var hasRelay = layout.leftovers.contains(relay)
        if !layout.copies.contains(copy) {
            if !hasRelay { try await jetStream.copy(stream, to: relay, label: label) }
            hasRelay = true
            try await waitUntilWhole(relay, of: stream) {
                try await jetStream.copy(stream, to: relay, label: label)
            }
            try await jetStream.copy(relay, to: copy, label: label)
        }
        try await waitUntilWhole(copy, of: stream) {
            // A copy without its relay was whole once.
            if !hasRelay { try await jetStream.copy(stream, to: relay, label: label) }
            hasRelay = true
            try await jetStream.copy(relay, to: copy, label: label)
        }
        try await replicate(copy, as: stream)
        if hasRelay { try await jetStream.delete(relay) }
    }

    /// Has as many servers keep a whole copy as keep the stream, which will be deleted.
    private func replicate(_ copy: String, as stream: String) async throws {
        let replicas = try await jetStream.streamInfo(stream).configuration.replicas
        guard replicas > 1 else { return }
        try await jetStream.setReplicas(replicas, of: copy)
        var told = ContinuousClock.now
        while try await jetStream.streamInfo(copy).currentCopies < replicas - 1 {
            if told.duration(to: .now) >= Self.timeout {
                logger.notice("waits until all its servers have a copy", metadata: ["copy": "\(copy)"])
                told = .now
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// - Parameter make: makes the copy.
    private func waitUntilWhole(_ copy: String, of stream: String, _ make: () async throws -> Void) async throws {
        for attempt in 1...Self.attempts {
            if try await becomesWhole(copy, of: stream) { return }
            guard attempt < Self.attempts else { break }
            let (whole, part) = (try await jetStream.streamInfo(stream), try await jetStream.streamInfo(copy))
            logger.notice(
                "a copy does not grow; it is made anew",
                metadata: ["copy": "\(copy)", "messages": "\(part.messages) of \(whole.messages)"])
            try await jetStream.delete(copy)
            try await make()
        }
        throw Repartitioning.Failure.stalled(copy: copy)
    }

    /// False where it does not grow.
    private func becomesWhole(_ copy: String, of stream: String) async throws -> Bool {
        var last: UInt64?
        var since = ContinuousClock.now
        while since.duration(to: .now) < Self.timeout {
            let original = try await jetStream.streamInfo(stream)
            let info = try await jetStream.streamInfo(copy)
            if try await isWhole(info, of: original) { return true }
            if info.messages != last { (last, since) = (info.messages, .now) }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// Whether a copy has all messages of a stream that captures nothing.
    ///
    /// The stream's messages expire and the copy's do not, so that their numbers may be equal before the newest ones are
    /// copied. The stream's last sequence may be that of a deleted message, which a copy never reaches.
    private func isWhole(_ copy: StreamInfo, of stream: StreamInfo) async throws(JetStreamError) -> Bool {
        guard copy.messages >= stream.messages else { return false }
        let next = try await jetStream.nextMessage(
            stream.configuration.name, subject: ">", from: copy.lastSequence + 1)
        return next == nil
    }

    /// Deletes the copies and has the logs capture again.
    /// - Precondition: all originals are there.
    func undo() async throws {
        let layout = try await RepartitionLayout(root, jetStream)
        for copy in layout.copies + layout.leftovers { try await jetStream.delete(copy) }
        for log in layout.logs where log.isParked { try await log.open(hasMoved: log.hasMoved, jetStream) }
    }
}

extension CheckpointStore {
    /// The store that reads the copies of the streams.
    static func copies(root: String, _ jetStream: JetStream, _ logger: Logger) -> CheckpointStore {
        CheckpointStore(
            root: root, partitions: 1, readsCopies: true, connection: jetStream.connection, timeout: jetStream.timeout,
            logger: logger)
    }
}
