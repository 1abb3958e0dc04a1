internal import Logging

extension OrderedConsumer {
    /// What the server sends for a consumer, on the delivery thread.
    func receive(_ message: borrowing NATSMessage, of attempt: UInt64) {
        let now = clock()
        if let metadata = message.withReply({ DeliveryMetadata(acknowledgementSubject: $0) }) {
            let (isNext, isCaughtUp) = shared.withLock { shared in
                let isNext = shared.state.accepts(metadata, of: attempt, at: now)
                return (isNext, isNext && shared.catchUp.message(pending: metadata.pending))
            }
            guard isNext else { return lost(attempt, "a gap") }
            onMessage(message, metadata)
            if isCaughtUp { onEvent(.caughtUp) }
        } else if message.header("Status") == "100" {
            receiveStatus(message, of: attempt, at: now)
        }
    }

    private func receiveStatus(_ message: borrowing NATSMessage, of attempt: UInt64, at now: Int64) {
        if let question = message.reply {
            offer(question, of: attempt)
            return
        }
        guard let last = message.header("Nats-Last-Consumer").flatMap({ UInt64($0) }) else { return }
        guard shared.withLock({ $0.state.agrees(lastConsumerSequence: last, of: attempt, at: now) }) else {
            lost(attempt, "a gap before a heartbeat")
            return
        }
        if let question = message.header("Nats-Consumer-Stalled") {
            // Either it has not been answered yet, or question or answer got lost.
            offer(question, of: attempt)
        } else if shared.withLock({ $0.catchUp.idle() }) {
            onEvent(.caughtUp)
        }
    }

    /// Hands a question of flow control on, unless it has been already and waits.
    private func offer(_ question: String, of attempt: UInt64) {
        let isNew = shared.withLock { shared in
            guard shared.state.isReading(attempt), shared.barrier != question else { return false }
            shared.barrier = question
            return true
        }
        if isNew { onEvent(.barrier(FlowControlBarrier(subject: question, consumer: self))) }
    }

    func pass(_ barrier: FlowControlBarrier) {
        guard let subject = barrier.subject else {
            let now = clock()
            change { $0.passed(at: now) }
            return
        }
        shared.withLock { shared in
            if shared.barrier == subject { shared.barrier = nil }
        }
        // If it gets lost, the next heartbeat asks again.
        try? connection.publish([], to: subject)
    }

    private func lost(_ attempt: UInt64, _ reason: String) {
        guard change({ $0.lost(attempt) }) else { return }
        logger.info("reading anew", metadata: ["stream": "\(settings.stream)", "reason": "\(reason)"])
    }
}
