public import StrokeWire

extension TeacherSession {
    /// How many rejections a report lists one by one.
    private static let rejectionsListed = 16

    /// What the service says about this author's operations.
    public mutating func receive(_ feedback: Feedback, at now: Duration) {
        silence.end(at: now)
        switch feedback {
        case .applied(let number, let index):
            counts.lastIndex = max(counts.lastIndex, index)
            if outbox.remove(number) { counts.applied += 1 }
        case .missingShards(let number, let orders):
            counts.missing += 1
            let asked = Set(orders)
            for message in outbox.operations[number]?.messages ?? [] where asked.contains(message.order) {
                resends.add(message, attempt: 0)
            }
        case .missingRange(let from, let to):
            counts.missing += 1
            for number in outbox.numbers where from <= number && number <= to {
                for message in outbox.operations[number]?.messages ?? [] { resends.add(message, attempt: 0) }
            }
        case .gaveUp(let from, let to):
            for number in outbox.numbers where from <= number && number <= to { gaveUp(number) }
        case .rejected(let number, _, let rejection):
            rejected(number, rejection)
        }
    }

    /// Feedback came that could not be read.
    public mutating func receiveMalformedFeedback() {
        counts.malformedFeedback += 1
    }

    /// So much feedback was dropped unread, all in all.
    public mutating func feedbackDropped(_ count: Int) {
        counts.droppedFeedback = count
    }

    /// A stroke may still come late, so it gets a second chance; what is given up once more stays so.
    private mutating func gaveUp(_ number: Int64) {
        guard let operation = outbox.operations[number] else { return }
        if operation.messages.allSatisfy(\.isStroke), !operation.isSecondChance {
            outbox.giveSecondChance(number)
            resend(CollectionOfOne(number))
        } else if outbox.remove(number) {
            counts.gaveUp += 1
        }
    }

    private mutating func rejected(_ number: Int64?, _ rejection: Rejection) {
        if let number, rejection.settlesNumber {
            _ = outbox.remove(number)
            guard rejectedNumbers.insert(number).inserted else { return }
        }
        counts.rejected[rejection.code, default: 0] += 1
        if counts.firstRejections.count < Self.rejectionsListed {
            counts.firstRejections.append(TeacherReport.NumberedRejection(number: number, rejection: rejection))
        }
    }
}

extension Rejection {
    /// Whether the whole operation is settled by the rejection of one message: all but two kinds do that.
    fileprivate var settlesNumber: Bool {
        !(code == .shardConflict || code == .outOfRange && field == "n")
    }
}
