public import StrokeWire

extension Room {
    /// A sample of a cohort's video clock, as it came.
    public mutating func receive(
        clockSample bytes: [UInt8], cohort: CohortName, at now: Instant, into effects: inout RoomEffects
    ) {
        let sample: ClockSample
        do {
            sample = try ClockSample(decoding: bytes)
        } catch {
            effects.counts.samplesRejected += 1
            return
        }
        switch gate.receive(sample, cohort: cohort, at: now) {
        case .taken:
            effects.counts.samplesTaken += 1
        case .newEpochs(let epochs):
            effects.counts.samplesTaken += 1
            effects.list.append(contentsOf: epochs.map { .record(.epoch($0)) })
        case .candidate, .ignored, .awaitingEpoch, .unknownCohort, .tooManyCohorts:
            effects.counts.samplesIgnored += 1
        }
        admitFollowers()
    }

    /// Moves the cohorts' cursors over what is due.
    mutating func release(at now: Instant, into effects: inout RoomEffects) {
        scratch.removeAll(keepingCapacity: true)
        gate.release(at: now, into: &scratch)
        follow(at: now, into: &effects)
        effects.counts.clamped += gate.takeClampedCount()
        while log.heldBytes > configuration.log.heldBytes, let slowest = gate.slowestCohort {
            scratch.removeAll(keepingCapacity: true)
            gate.force(slowest.cohort, through: slowest.released + 1, at: now, into: &scratch)
            guard !scratch.isEmpty else { break }
            follow(at: now, into: &effects)
        }
    }

    private mutating func follow(at now: Instant, into effects: inout RoomEffects) {
        guard !scratch.isEmpty else { return }
        for release in scratch {
            let operation = log[release.index]
            followers[release.cohort]?.follow(operation, at: now)
            effects.list.append(
                .release(
                    release.cohort, operation, isLate: release.isLate || operation.isLate, due: release.due))
        }
        trimLog(keeping: configuration.log)
    }

    /// Packs what every cohort has released, and lets go of all but a tail of it.
    mutating func trimLog(keeping retention: LogRetention) {
        let released = gate.slowestCohort?.released ?? log.lastIndex
        log.pack(through: released)
        while log.count > retention.tail || log.releasedBytes > retention.tailBytes, log.firstIndex <= released {
            base.apply(log.popFirst())
        }
        gate.forget(through: log.firstIndex - 1)
    }

    mutating func mark(at now: Instant, into effects: inout RoomEffects) {
        for cohort in gate.cohortNames where followers[cohort]?.isMarkDue(at: now) == true {
            followers[cohort]?.scheduleMark(after: now)
            guard let board = followers[cohort]?.board else { continue }
            let mark = Mark(
                room: incarnation, index: board.index, digest: board.digest,
                video: gate.videoTime(of: cohort, at: now))
            effects.list.append(.mark(cohort, mark))
        }
    }
}
