import DequeModule
internal import StrokeWire

extension TeacherSession {
    /// How long an acknowledgement may take; it bounds what is in flight to what goes out in that time.
    private static let acknowledgementTime = Duration.seconds(1)
    /// How long nothing may get through, where something did before: a cluster takes 8 s to elect a leader.
    private static let longestStall = Duration.seconds(60)

    /// What came back for a message.
    public mutating func receive(_ answer: PublishAnswer, _ receipt: Receipt, at now: Duration) {
        switch answer {
        case .stored:
            counts.isJournalled = true
            counts.refusal = nil
            lastNews = now
            guard outbox.acknowledge(receipt) else { return }
            counts.stored += 1
            records?.append(.stored(number: receipt.key.number, order: receipt.key.order))
        case .refused(let why):
            counts.isJournalled = true
            counts.refusal = why
            counts.refusals += 1
            beginStall(because: receipt, at: now)
        case .nobody:
            beginStall(because: receipt, at: now)
        }
    }

    /// When the oldest message in flight is overdue; nil where nothing acknowledges.
    var acknowledgementDue: Duration? {
        guard counts.isJournalled, resends.isEmpty, let key = inFlight.first else { return nil }
        return outbox[key]?.sentAt.map { $0 + Self.acknowledgementTime }
    }

    /// When it is no use to wait any longer.
    var end: Duration {
        let isOpen = stall != nil || counts.isJournalled && !inFlight.isEmpty
        let wasHeard = counts.isJournalled || isServiceKnown
        return lastNews + (isOpen && wasHeard ? max(patience, Self.longestStall) : patience)
    }

    /// Notices that the oldest message does not get through, and that it has.
    mutating func watchForStall(at now: Duration) {
        while let key = inFlight.first, outbox[key]?.isAcknowledged ?? true { inFlight.removeFirst() }
        if let stall, stall.key != inFlight.first {
            endStall()
        } else if stall == nil, let key = inFlight.first, let due = acknowledgementDue, due <= now {
            stall = Stall(key, at: now, delay: .zero)
        }
    }

    /// Something gets through again: all that is open goes out again, in order.
    mutating func endStall() {
        stall = nil
        for key in inFlight { resends.add(key, isWanted: false) }
    }

    private mutating func beginStall(because receipt: Receipt, at now: Duration) {
        let isOpen = outbox[receipt.key].map { !$0.isAcknowledged && $0.generation == receipt.generation } ?? false
        guard stall == nil, isOpen, let key = inFlight.first else { return }
        stall = Stall(key, at: now, delay: .milliseconds(250))
    }
}
