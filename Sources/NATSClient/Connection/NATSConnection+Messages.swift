extension NATSConnection {
    /// Sends a message. libnats copies it into its write buffer; nothing is kept for a connection to come.
    ///
    /// Any thread. Blocks only when the write buffer is full and the socket too, for `settings.writeDeadline`.
    /// - Throws: `.disconnected`, at once, while there is no connection; `.closed`; `.payloadTooLarge`,
    ///   `.invalidSubject`, `.invalidHeader`.
    public func publish(
        _ payload: [UInt8], to subject: String, reply: String? = nil, headers: NATSHeaders = [:]
    ) throws(NATSError) {
        try payload.span.withUnsafeBytes { bytes throws(NATSError) in
            try publish(bytes, to: subject, reply: reply, headers: headers)
        }
    }

    /// Sends a message from memory that the caller keeps; it is read before the call returns. As above otherwise.
    public func publish(
        _ payload: UnsafeRawBufferPointer, to subject: String, reply: String? = nil, headers: NATSHeaders = [:]
    ) throws(NATSError) {
        guard Subject.isLiteral(subject) else { throw .invalidSubject(subject) }
        if let reply {
            guard Subject.isLiteral(reply) else { throw .invalidSubject(reply) }
        }
        try link.session().publish(payload, to: subject, reply: reply, headers: headers)
    }

    /// Listens to a subject, now and after every reconnect; also before the connection is made.
    ///
    /// - Parameters:
    ///   - subject: may have the wildcards `*` and, as its last token, `>`.
    ///   - queue: the name of a group that shares the messages, each going to one member.
    ///   - handler: runs on the delivery thread, in the order of arrival over all subscriptions, and must not block.
    ///     It borrows the message.
    /// - Returns: a handle to end the subscription with; it lives without, too.
    /// - Throws: `.invalidSubject`, also for the queue's name; `.closed`.
    @discardableResult
    public func subscribe(
        _ subject: String, queue: String? = nil, handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        guard Subject.isPattern(subject) else { throw .invalidSubject(subject) }
        if let queue {
            guard Subject.isLiteral(queue) else { throw .invalidSubject(queue) }
        }
        return try link.subscribe(subject, queue: queue, handler: handler)
    }
}
