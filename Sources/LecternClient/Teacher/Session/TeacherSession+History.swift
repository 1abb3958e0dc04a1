internal import StrokeWire

extension TeacherSession {
    /// Goes on where an earlier run ended: with what is not settled, in the order in which it was first sent.
    mutating func resume(_ history: OutboxHistory) {
        records = []
        counts.stored = history.storedCount
        counts.isJournalled = history.storedCount > 0
        isServiceKnown = !history.outcomes.isEmpty
        for (number, outcome) in history.outcomes {
            switch outcome {
            case .applied(let index):
                counts.applied += 1
                counts.lastIndex = max(counts.lastIndex, index)
            case .gaveUp:
                counts.gaveUp += 1
            case .rejected(let code):
                counts.rejected[code, default: 0] += 1
                rejectedNumbers.insert(number)
            }
        }
        for pending in history.unsettled {
            outbox.keep(pending.message, isStored: pending.isStored)
            if !pending.isStored { resends.add(pending.message.key, isWanted: false) }
        }
    }

    /// What happened since the last call, to be written down before anything is sent.
    mutating func takeRecords() -> [OutboxRecord] {
        guard let taken = records, !taken.isEmpty else { return [] }
        records = []
        return taken
    }
}
