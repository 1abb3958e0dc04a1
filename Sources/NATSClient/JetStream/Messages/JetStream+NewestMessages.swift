public import Logging

extension JetStream {
    /// The newest message of each subject that matches, in the order of the stream.
    ///
    /// Takes memory for all of them. What is written meanwhile may be among them.
    /// - Throws: an error with `isStreamMissing`; `.noAnswer` when the end is not reached in time.
    public func newestMessages(
        _ stream: String, matching filter: String, logger: Logger, timeout: Duration = .seconds(60)
    ) async throws(JetStreamError) -> [StoredMessage] {
        let found = Locked<[String: StoredMessage]>([:])
        let settings = OrderedConsumerSettings(stream: stream, start: .lastPerSubject, filterSubject: filter)
        try await readToEnd(settings, logger: logger, timeout: timeout) { message, metadata in
            let stored = StoredMessage(
                subject: message.subject, sequence: metadata.streamSequence, time: metadata.time,
                payload: message.copyPayload())
            found.withLock { $0[stored.subject] = stored }
        }
        return found.withLock { $0.values.sorted { $0.sequence < $1.sequence } }
    }
}
