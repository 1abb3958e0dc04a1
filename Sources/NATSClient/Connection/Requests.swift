internal import Locking

/// Requests.
extension NATSConnection {
    /// Sends a request and waits for the first reply. At most 65,536 requests may wait at the same time.
    ///
    /// Never blocks a thread. The task's cancellation ends the wait.
    /// - Throws: `.noResponders` when nobody subscribes to that subject; `.timeout`; `.disconnected`, also when the
    ///   connection is lost during the wait; `.notPermitted` when this user may not publish there, or not receive
    ///   replies; `.cancelled`; `.tooManyRequests`; what `publish` throws.
    public func request(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(2)
    ) async throws(NATSError) -> NATSReply {
        guard let reply = try await ask(.one, payload, subject, headers, timeout).first else { throw .timeout }
        return reply
    }

    /// Sends a request whose reply may come in parts, messages with the header `Ink-Part: i/k`, and joins them. A reply
    /// has at most 192 MiB in 4,096 parts. The requests of a connection gather at most 256 MiB together.
    ///
    /// - Parameter timeout: for the whole reply.
    /// - Throws: `.malformedReply`; `.replyTooLarge`; `.tooManyRequests`, also when the replies of all requests are too
    ///   large together; what `request` throws.
    public func requestParts(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSReply {
        let collector = ReplyCollector.parts(PartAssembly(maxBytes: ReplyCollector.maxBytes))
        guard let whole = PartAssembly.join(try await ask(collector, payload, subject, headers, timeout)) else {
            throw .timeout
        }
        return whole
    }

    /// The longest stall of this process, the network, NATS or a service that repeated requests live through.
    public static let stallLimit = Duration.seconds(45)

    /// The same for a request that is safe to send twice: sends it again when the connection or the reply is lost. A stall
    /// costs time then, and not the reply.
    ///
    /// - Parameters:
    ///   - timeout: for one attempt.
    ///   - limit: time after which no further attempt begins.
    /// - Throws: what the last attempt throws.
    public func requestParts(
        _ payload: [UInt8] = [], to subject: String, timeout: Duration = .seconds(5), repeatingFor limit: Duration
    ) async throws(NATSError) -> NATSReply {
        let deadline = ContinuousClock.now + limit
        var wasLost = false
        while true {
            do throws(NATSError) {
                return try await requestParts(payload, to: subject, timeout: timeout)
            } catch {
                // The service may be connecting again as well.
                let isLoss = [.timeout, .disconnected].contains(error) || wasLost && error == .noResponders
                guard isLoss, ContinuousClock.now < deadline else { throw error }
                wasLost = true
            }
            do { try await Task.sleep(for: .milliseconds(200)) } catch { throw .cancelled }
        }
    }

    /// Sends a request and hands over each reply that comes within the window; none when nobody subscribes. Replies in parts
    /// are joined, incomplete ones left out. Ends early at 4,096 messages or 64 MiB.
    ///
    /// - Parameters:
    ///   - extendsWindow: whether the window begins anew with each reply, so that it bounds the silence.
    ///   - isEnough: called in the caller's task. Ends the request before the window by returning true.
    /// - Throws: what `requestParts` throws, without `.noResponders` and `.timeout`.
    public func requestMany(
        _ payload: [UInt8] = [], to subject: String, window: Duration, extendsWindow: Bool = false,
        until isEnough: (NATSReply) -> Bool
    ) async throws(NATSError) {
        let (arrivals, inlet) = AsyncStream.makeStream(of: NATSReply.self)
        let (number, outcome) = try core.replies.add(.many(inlet), to: subject)
        defer { core.replies.remove(number) }
        try publish(payload, to: subject, reply: core.replies.subject(number))
        let end = Locked(ContinuousClock.now + window)
        let closing = Task {
            defer { inlet.finish() }
            while true {
                let result = await outcome.value(within: end.withLock { $0 } - .now)
                guard !outcome.isFulfilled, case .failure(.timeout) = result, end.withLock({ $0 }) > .now else {
                    return result
                }
            }
        }
        defer { closing.cancel() }
        var joiner = PartJoiner()
        for await arrival in arrivals {
            if extendsWindow { end.withLock { $0 = .now + window } }
            if let reply = joiner.receive(arrival), isEnough(reply) { return }
        }
        if Task.isCancelled { throw .cancelled }
        switch await closing.value {
        case .success, .failure(.timeout), .failure(.noResponders): return
        case .failure(let error): throw error
        }
    }

    private func ask(
        _ collector: ReplyCollector, _ payload: [UInt8], _ subject: String, _ headers: NATSHeaders,
        _ limit: Duration
    ) async throws(NATSError) -> [NATSReply] {
        let replies = core.replies
        let (number, outcome) = try replies.add(collector, to: subject)
        do throws(NATSError) {
            try publish(payload, to: subject, reply: replies.subject(number), headers: headers)
            return try await outcome.value(within: limit).get()
        } catch {
            replies.remove(number)
            throw error
        }
    }
}
