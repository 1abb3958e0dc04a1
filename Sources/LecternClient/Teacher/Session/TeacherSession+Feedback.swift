public import StrokeWire

extension TeacherSession {
    /// How many rejections a report lists one by one.
    private static let rejectionsListed = 16

    /// What the service says about this author's operations.
    public mutating func receive(_ feedback: Feedback, at now: Duration) {
        silence.end(at: now, isJournalled: counts.isJournalled)
        lastNews = now
        isServiceKnown = true
        // Without a journal there is no other sign that messages get through again.
        if stall != nil, !counts.isJournalled { endStall() }
        switch feedback {
        case .applied(let number, let index):
            counts.lastIndex = max(counts.lastIndex, index)
            if settle(number, .applied(index: index)) { counts.applied += 1 }
            sendAgain(below: number)
        case .missingShards(let number, let orders):
            counts.missing += 1
            let asked = Set(orders)
            for entry in outbox.operations[number]?.entries ?? [] where asked.contains(entry.message.order) {
                resends.add(entry.message.key, isWanted: true)
            }
        case .missingRange(let from, let to):
            counts.missing += 1
            for number in outbox.numbers where from <= number && number <= to { resend(number, isWanted: true) }
        case .gaveUp(let from, let to):
            for number in outbox.numbers where from <= number && number <= to { gaveUp(number) }
        case .rejected(let number, _, let rejection):
            rejected(number, rejection)
        }
    }

    /// The room applies in order, so what lies below an applied operation and has no answer came to nothing: the first
    /// of a count, after which nobody asks. For two seconds from the start of its count a room still takes it.
    private mutating func sendAgain(below number: Int64) {
        for open in outbox.numbers.prefix(while: { $0 < number }) where !passedOver.contains(open) {
            passedOver.insert(open)
            resend(open, isWanted: true)
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
        if operation.entries.allSatisfy(\.message.isStroke), !operation.isSecondChance {
            outbox.giveSecondChance(number)
            resend(number, isWanted: true)
        } else if settle(number, .gaveUp) {
            counts.gaveUp += 1
        }
    }

    private mutating func rejected(_ number: Int64?, _ rejection: Rejection) {
        if let number, rejection.settlesNumber {
            _ = settle(number, .rejected(rejection.code))
            guard rejectedNumbers.insert(number).inserted else { return }
        }
        counts.rejected[rejection.code, default: 0] += 1
        if counts.firstRejections.count < Self.rejectionsListed {
            counts.firstRejections.append(TeacherReport.NumberedRejection(number: number, rejection: rejection))
        }
    }

    /// - Returns: whether the operation was still open.
    private mutating func settle(_ number: Int64, _ outcome: OutboxRecord.Outcome) -> Bool {
        guard let operation = outbox.remove(number) else { return false }
        // What is answered has arrived, whether its acknowledgement has or not.
        if counts.isJournalled { counts.stored += operation.entries.count { !$0.isStored } }
        records?.append(.settled(number: number, outcome))
        return true
    }
}

extension Rejection {
    /// Whether the whole operation is settled by the rejection of one message: all but two kinds do that.
    fileprivate var settlesNumber: Bool {
        !(code == .shardConflict || code == .outOfRange && field == "n")
    }
}
