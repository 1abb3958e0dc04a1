public import Logging

extension JetStream {
    /// Reads a stream, or the part of it that the settings say, up to its end as it was at the beginning.
    ///
    /// - Parameter onMessage: runs on the delivery thread, in the order of the stream; must not block.
    /// - Throws: an error with `isStreamMissing`; `.noAnswer` when the end is not reached in time.
    public func readToEnd(
        _ settings: OrderedConsumerSettings, logger: Logger, timeout: Duration = .seconds(60),
        onMessage: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void
    ) async throws(JetStreamError) {
        // A reader of a stream that is not there would wait for it.
        _ = try await streamInfo(settings.stream)
        let end = Promise<Void>()
        let origin = ContinuousClock.now
        do throws(NATSError) {
            let consumer = try read(
                settings, logger: logger, clock: { origin.duration(to: .now).wholeNanoseconds },
                onEvent: { event in
                    switch event {
                    case .caughtUp: end.fulfil(.success(()))
                    case .barrier(let barrier): barrier.pass()
                    case .rewound: end.fulfil(.failure(.timeout))
                    case .began: break
                    }
                }, onMessage: onMessage)
            defer { consumer.cancel() }
            try await end.value(within: timeout).get()
        } catch {
            throw JetStreamError(error, asking: settings.stream)
        }
    }
}
