public import StrokeWire

extension Room {
    /// R of each cohort that exists: the index of the last operation released to it.
    public var cursors: [CohortName: UInt64] {
        Dictionary(uniqueKeysWithValues: gate.cohorts.map { ($0.name, $0.released) })
    }

    /// Whether nothing is held by any cohort and no operation waits for another or for a shard: only an input can make
    /// something happen, marks aside.
    public var isQuiet: Bool {
        !intake.hasPending && gate.cohorts.allSatisfy { $0.released == log.lastIndex }
    }

    /// Puts cohorts where a note that is newer than the checkpoint says that they had been, and makes them where they
    /// are missing and may exist. Their boards follow; nothing is released again through those indices. Cursors beyond
    /// the end of the log go to its end; none goes back.
    public mutating func restoreCursors(_ cursors: [CohortName: UInt64], at now: Instant) {
        for (name, cursor) in cursors.sorted(by: { $0.key < $1.key }) { gate.restore(cursor, of: name, at: now) }
        admitFollowers()
        followSilently(at: now)
        trimLog(keeping: configuration.log)
    }

    /// Brings every cohort's board to its cursor.
    mutating func followSilently(at now: Instant) {
        for cohort in gate.cohorts {
            guard var follower = followers.removeValue(forKey: cohort.name) else { continue }
            follower.skip(log.tail(after: follower.board.index, through: cohort.released) ?? [], at: now)
            followers[cohort.name] = follower
        }
    }
}
