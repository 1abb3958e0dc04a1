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
            perform(shared.withLock { $0.state.refused(attempt) })
        }
    }

    private func begin(_ attempt: UInt64, _ answer: ConsumerAnswer, serverTime: Int64) {
        let now = clock()
        let (actions, begun, isCaughtUp, asked, askedAt) = shared.withLock { shared in
            let asked = shared.state.next
            let first = asked == 0 ? nil : answer.delivered.streamSeq &+ 1
            let actions = shared.state.made(attempt, first: first, at: now)
            let begun = shared.state.isReading(attempt)
            if begun { (shared.name, shared.complaint) = (answer.name, nil) }
            let isCaughtUp = begun && shared.catchUp.began(pending: answer.numPending)
            return (actions, begun, isCaughtUp, asked, shared.askedAt)
        }
        if begun {
            onEvent(
                .began(
                    ConsumerStart(
                        asked: asked, first: answer.delivered.streamSeq &+ 1, pending: answer.numPending,
                        serverTime: serverTime, askedAt: askedAt, answeredAt: now)))
        }
        if isCaughtUp { onEvent(.caughtUp) }
        perform(actions)
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
