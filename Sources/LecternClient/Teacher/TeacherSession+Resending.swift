extension TeacherSession {
    /// How many operations a question is about. The newest shows the service all gaps before it; the others are the
    /// oldest, whose answers may be lost.
    private static let operationsAsked = 32

    /// The connection is lost. What was sent last may be lost too.
    public mutating func connectionLost() {
        isConnected = false
    }

    /// The connection is back: everything that is not answered goes out again, in order.
    public mutating func connectionReturned(at now: Duration) {
        guard !isConnected else { return }
        isConnected = true
        counts.reconnects += 1
        silence.end(at: now)
        resend(outbox.numbers)
    }

    mutating func askIfSilent(at now: Duration) {
        guard !outbox.isEmpty, now >= silence.nextQuestion, resends.isEmpty else { return }
        silence.ask(at: now)
        let numbers = outbox.numbers
        let oldest = numbers.prefix(Self.operationsAsked - 1)
        resend(oldest + numbers.dropFirst(oldest.count).suffix(1))
    }

    /// Sends operations again under message ids of their own, so that the service answers once more.
    mutating func resend(_ numbers: some Sequence<Int64>) {
        attempts += 1
        for number in numbers {
            for message in outbox.operations[number]?.messages ?? [] {
                resends.add(message, attempt: attempts)
            }
        }
    }
}
