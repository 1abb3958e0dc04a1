extension NATSConnection {
    /// Sends a request and waits for the first reply. At most 65,536 requests may wait at the same time.
    ///
    /// Never blocks a thread. The task's cancellation ends the wait.
    /// - Throws: `.noResponders` when the server knows of nobody on that subject; `.timeout`; `.disconnected`, also
    ///   when the connection is lost during the wait; `.notPermitted` when this user may not publish there, or not
    ///   receive replies; `.cancelled`; `.tooManyRequests`; what `publish` throws.
    public func request(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(2)
    ) async throws(NATSError) -> NATSReply {
        try await first(of: ask(.one, payload, subject, headers, timeout))
    }

    /// Sends a request whose reply may come in several messages with `Ink-Part: i/k`, which are joined; together at
    /// most 64 MiB in 4,096 parts.
    ///
    /// - Parameter timeout: for the whole reply.
    /// - Throws: `.malformedReply`, `.replyTooLarge`, and what `request` throws.
    public func requestParts(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSReply {
        let collector = ReplyCollector.parts(PartAssembly(maxBytes: ReplyCollector.maxBytes))
        return try await first(of: ask(collector, payload, subject, headers, timeout))
    }

    /// Sends a request to many and gathers the replies that come within the window, in the order they come; none
    /// when nobody listens. Ends early at 4,096 replies or 64 MiB.
    ///
    /// - Throws: what `request` throws, without `.noResponders` and `.timeout`.
    public func requestMany(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], window: Duration = .seconds(1)
    ) async throws(NATSError) -> [NATSReply] {
        do throws(NATSError) {
            return try await ask(.many([], bytes: 0), payload, subject, headers, window)
        } catch .noResponders {
            return []
        }
    }

    private func ask(
        _ collector: ReplyCollector, _ payload: [UInt8], _ subject: String, _ headers: NATSHeaders,
        _ limit: Duration
    ) async throws(NATSError) -> [NATSReply] {
        let replies = link.replies
        let (number, outcome) = try replies.add(collector, to: subject)
        do throws(NATSError) {
            try publish(payload, to: subject, reply: replies.subject(number), headers: headers)
            return try await outcome.value(within: limit).get()
        } catch {
            let gathered = replies.remove(number)
            if error == .timeout, let gathered { return gathered }
            throw error
        }
    }

    private func first(of replies: [NATSReply]) throws(NATSError) -> NATSReply {
        guard let reply = replies.first else { throw .timeout }
        return reply
    }
}
