public import Logging

extension JetStream {
    /// The newest message of each subject that matches, in the order of the stream.
    ///
    /// Takes memory for all of them. What is written meanwhile may be among them.
    /// - Throws: an error with `isStreamMissing`; `.noAnswer` when the end is not reached in time.
    public func newestMessages(
        _ stream: String, matching filter: String, logger: Logger, timeout: Duration = .seconds(60)
    ) async throws(JetStreamError) -> [StoredMessage] {
        // A reader of a stream that is not there would wait for it.
        _ = try await streamInfo(stream)
        let found = Locked<[String: StoredMessage]>([:])
        let end = Promise<Void>()
        let origin = ContinuousClock.now
        do throws(NATSError) {
            let consumer = try read(
                OrderedConsumerSettings(stream: stream, start: .lastPerSubject, filterSubject: filter), logger: logger,
                clock: { origin.duration(to: .now).wholeNanoseconds },
                onEvent: { event in
                    switch event {
                    case .caughtUp: end.fulfil(.success(()))
                    case .barrier(let barrier): barrier.pass()
                    case .rewound: end.fulfil(.failure(.timeout))
                    case .began: break
                    }
                },
                onMessage: { message, metadata in
                    let stored = StoredMessage(
                        subject: message.subject, sequence: metadata.streamSequence, time: metadata.time,
                        payload: message.copyPayload())
                    found.withLock { $0[stored.subject] = stored }
                })
            defer { consumer.cancel() }
            try await end.value(within: timeout).get()
        } catch {
            throw JetStreamError(error, asking: stream)
        }
        return found.withLock { $0.values.sorted { $0.sequence < $1.sequence } }
    }
}
