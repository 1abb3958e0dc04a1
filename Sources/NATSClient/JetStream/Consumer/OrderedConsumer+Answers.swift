internal import Logging

extension OrderedConsumer {
    /// The server's answer to a request for a consumer, on the delivery thread.
    func receiveAnswer(_ message: borrowing NATSMessage) {
        guard let attempt = message.subject.split(separator: ".").last.flatMap({ UInt64($0) }) else { return }
        do throws(JetStreamError) {
            guard !message.saysNoResponders else { throw .notEnabled }
            let answer = try APIBody.decode(ConsumerAnswer.self, from: message.copyPayload())
            begin(attempt, answer, serverTime: try ServerTime.parse(answer.created))
        } catch {
            complain(error)
            change { $0.refused(attempt) }
        }
    }

    private func begin(_ attempt: UInt64, _ answer: ConsumerAnswer, serverTime: Int64) {
        let now = clock()
        let (asked, askedAt) = shared.withLock { ($0.state.next, $0.askedAt) }
        let start = ConsumerStart(
            asked: asked, first: answer.delivered.streamSeq &+ 1, pending: answer.numPending, serverTime: serverTime,
            askedAt: askedAt, answeredAt: now)
        change {
            $0.made(attempt, first: asked == 0 ? nil : start.first, at: now)
        } first: {
            let (isMade, isCaughtUp) = shared.withLock { shared in
                guard shared.state.has(attempt) else { return (false, false) }
                (shared.name, shared.complaint) = (answer.name, nil)
                return (true, shared.catchUp.began(pending: answer.numPending))
            }
            // This is the delivery thread: what the consumer delivers waits.
            if isMade { onEvent(.began(start)) }
            if isCaughtUp { onEvent(.caughtUp) }
        }
    }

    /// Logs why the stream cannot be read, once for the same reason again and again.
    private func complain(_ error: JetStreamError) {
        let isNews = shared.withLock { shared in
            defer { shared.complaint = error }
            return shared.complaint != error
        }
        guard isNews else { return }
        logger.warning(
            "cannot read a stream; trying on", metadata: ["stream": "\(settings.stream)", "error": "\(error)"])
    }
}
