extension Room {
    /// When a room in which nothing is held or pending may give back what it keeps of its log; nil while something is,
    /// and where it has nothing to give back.
    var restDue: Instant? {
        guard log.count > 0, isQuiet else { return nil }
        return followers.values.lazy.compactMap(\.lastRelease).max().map { $0 + configuration.log.quiet }
    }

    /// Gives back what only an active room needs. All cohorts have been shown all there is, so that one board can stand
    /// for every version: the folds of the same operations are the same.
    mutating func rest(at now: Instant) {
        guard let due = restDue, due <= now else { return }
        log = OperationLog(after: head.index)
        gate.forget(through: head.index)
        head.compact()
        base = head
        for cohort in gate.cohortNames { followers[cohort]?.board = head }
        scratch = []
    }
}
