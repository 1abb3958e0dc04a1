extension TeacherSession {
    /// How many operations a question is about. The newest shows the service all gaps before it; the others are the
    /// oldest, whose answers may be lost.
    private static let operationsAsked = 32

    /// The connection is lost. What was sent last may be lost too, and so may answers to it.
    public mutating func connectionLost() {
        isConnected = false
    }

    /// The connection is back: everything that is not known to have arrived goes out again, in order.
    public mutating func connectionReturned(at now: Duration) {
        guard !isConnected else { return }
        isConnected = true
        stall = nil
        lastNews = now
        counts.reconnects += 1
        silence.end(at: now, isJournalled: counts.isJournalled)
        for number in outbox.numbers { resend(number, isWanted: false) }
    }

    mutating func askIfSilent(at now: Duration) {
        guard now >= silence.nextQuestion else { return }
        silence.ask(at: now)
        guard resends.isEmpty else { return }
        let numbers = outbox.numbers
        let oldest = numbers.prefix(Self.operationsAsked - 1)
        for number in oldest + numbers.dropFirst(oldest.count).suffix(1) {
            for entry in outbox.operations[number]?.entries ?? [] where isWorthAsking(entry) {
                resends.add(entry.message.key, isWanted: true)
            }
        }
    }

    /// A journal's acknowledgements are waited for elsewhere, and a service that never spoke may not be there.
    private func isWorthAsking(_ entry: Outbox.Entry) -> Bool {
        !counts.isJournalled || entry.sentAt == nil && !entry.isStored || entry.isAcknowledged && isServiceKnown
    }

    mutating func resend(_ number: Int64, isWanted: Bool) {
        for entry in outbox.operations[number]?.entries ?? [] where isWanted || !entry.isAcknowledged {
            resends.add(entry.message.key, isWanted: isWanted)
        }
    }
}
