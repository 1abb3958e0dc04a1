import DequeModule
public import StrokeWire

/// The gate without its clocks: after a restart the video time is unknown until a sample arrives (rule 12).
extension CheckpointWriter {
    mutating func write(_ gate: Gate) {
        write(gate.timeline)
        write(list: gate.cohorts) { writer, cohort in
            writer.write(cohort.name.text)
            let cursor = gate.cursor(of: cohort)
            writer.write(cursor.released - gate.timeline.forgotten)
            writer.write(localTime: cohort.waitsFrom)
            writer.write(signed: cursor.pausedTime.nanoseconds)
            writer.write(optional: cursor.pausedSince) { $0.write(localTime: $1) }
        }
    }
}

extension CheckpointReader {
    /// - Parameter held: the number of operations after `index`.
    mutating func gate(
        _ configuration: CohortsConfiguration, after index: UInt64, held: Int, at now: Instant
    ) throws(CheckpointError) -> Gate {
        let timeline = try timeline(after: index, count: held, hasEnds: configuration.hasProgressive)
        var gate = Gate(configuration: configuration, timeline: timeline, at: now)
        for _ in 0..<(try count()) {
            let name: CohortName = try name()
            let released = index + (try number())
            try require(released <= timeline.last)
            let waitsFrom = try localTime()
            var cursor = CohortCursor(released)
            if version >= 2 {
                cursor.pausedTime = .nanoseconds(try signed())
                cursor.pausedSince = try optional { (reader) throws(CheckpointError) in try reader.localTime() }
            }
            gate.restore(name, cursor, waitsFrom: waitsFrom, at: now)
            gate.assumeVideo(of: name)
        }
        gate.restoreProvisional(nil)
        return gate
    }
}

extension CheckpointWriter {
    /// The gate times of the operations kept.
    mutating func write(_ timeline: GateTimeline) {
        write(timeline.epochs)
        let current = timeline.epochs.current.number
        for index in timeline.forgotten..<timeline.last {
            let entry = timeline[index + 1]
            write(signed: entry.epoch &- current)
            write(usable: entry.time)
            write(usable: entry.gateTime)
            write(localTime: entry.loggedAt)
        }
        write(optional: timeline.ends) { writer, ends in
            for end in ends {
                writer.write(UInt64(end.reach))
                writer.write(usable: end.gateTime)
            }
        }
    }
}

extension CheckpointReader {
    /// - Parameter count: the number of operations after `index`.
    mutating func timeline(
        after index: UInt64, count: Int, hasEnds: Bool
    ) throws(CheckpointError) -> GateTimeline {
        let epochs = try epochs()
        var entries: [GateTimeline.Entry] = []
        for _ in 0..<count {
            let epoch = epochs.current.number &+ (try signed())
            entries.append(
                GateTimeline.Entry(
                    epoch: epoch, time: try usableTime(), gateTime: try usableTime(), loggedAt: try localTime()))
        }
        var ends: [GateTimeline.End] = []
        if version >= 3 {
            ends =
                try optional { (reader) throws(CheckpointError) in
                    var ends: [GateTimeline.End] = []
                    for _ in 0..<count {
                        ends.append(GateTimeline.End(reach: try reader.reach(), gateTime: try reader.usableTime()))
                    }
                    return ends
                } ?? []
        }
        return GateTimeline(after: index, entries, ends: ends, hasEnds: hasEnds, epochs)
    }
}

extension CheckpointWriter {
    mutating func write(_ epochs: Epochs) {
        var last = Epochs.unnamed
        write(list: epochs.known) { writer, epoch in
            writer.write(signed: epoch.number - last)
            last = epoch.number
            writer.write(localTime: epoch.began)
            writer.write(usable: epoch.gateTime)
            writer.write(epoch.judged.through)
            writer.write(usable: epoch.judged.gateTime)
            writer.write(usable: epoch.endTime)
            writer.write(usable: epoch.judged.endTime)
            writer.write(optional: epoch.unjudged) { writer, unjudged in
                writer.write(unjudged.time)
                writer.write(UInt64(unjudged.reach))
                writer.write(localTime: unjudged.loggedAt)
            }
            writer.write(optional: epoch.left) { $0.write($1) }
            writer.write(optional: epoch.anchor) { writer, anchor in
                writer.write(anchor.time)
                writer.write(localTime: anchor.loggedAt)
            }
            guard writer.format >= 6 else { return }
            writer.write(optional: epoch.provisional) { writer, provisional in
                writer.write(provisional.first)
                writer.write(UInt64(provisional.age))
            }
        }
    }

    /// A media time, or none.
    mutating func write(usable time: MediaTime) {
        write(optional: time == .none ? nil : time) { $0.write($1) }
    }
}

extension CheckpointReader {
    mutating func epochs() throws(CheckpointError) -> Epochs {
        var known: [Epochs.Epoch] = []
        for _ in 0..<(try count()) {
            let number = (known.last?.number ?? Epochs.unnamed) &+ (try signed())
            let least = known.last.map { $0.number + 1 } ?? Epochs.unnamed
            // A provisional epoch may follow that of the greatest `ep`.
            try require(least <= number && number <= Epochs.greatest + 1)
            var epoch = Epochs.Epoch(number: number, began: try localTime())
            epoch.gateTime = try usableTime()
            epoch.judged = Epochs.Judged(through: try self.number(), gateTime: try usableTime())
            epoch.endTime = version >= 3 ? try usableTime() : epoch.gateTime
            epoch.judged.endTime = version >= 3 ? try usableTime() : epoch.judged.gateTime
            epoch.unjudged = try optional { (reader) throws(CheckpointError) in
                let time = try reader.media()
                let reach = reader.version >= 3 ? try reader.reach() : 0
                return Epochs.Unjudged(time: time, reach: reach, loggedAt: try reader.localTime())
            }
            epoch.left = try optional { (reader) throws(CheckpointError) in try reader.media() }
            if version >= 2 {
                epoch.anchor = try optional { (reader) throws(CheckpointError) in
                    Epochs.Anchor(time: try reader.media(), loggedAt: try reader.localTime())
                }
            }
            if version >= 6 {
                let provisional = try optional { (reader) throws(CheckpointError) in
                    let first = try reader.number()
                    try reader.require(first > 0)
                    return Epochs.Provisional(number: number, first: first, age: Int64(try reader.number()))
                }
                if let provisional { epoch.await(provisional) }
            }
            known.append(epoch)
        }
        // The last one alone can be provisional, and it follows another.
        try require(!known.dropLast().contains { $0.provisional != nil })
        try require(known.count > 1 || known.first?.provisional == nil)
        guard let epochs = Epochs(known) else { throw damaged }
        return epochs
    }

    /// Earlier builds wrote reaches above the greatest one.
    private mutating func reach() throws(CheckpointError) -> Int64 {
        Int64(min(try integer(), UInt64(GrowingPoints.greatestReach)))
    }

    mutating func usableTime() throws(CheckpointError) -> MediaTime {
        try optional { (reader) throws(CheckpointError) in try reader.media() } ?? .none
    }
}

// MARK: - What was saved

extension Gate {
    /// Puts a cohort's cursor where it was saved (rule 12), and makes the cohort where it is missing and allowed. A
    /// cursor beyond the log goes to its end; none goes back.
    ///
    /// Operations wait for a cohort that is made here from now on, not since they were logged: when it was made first is
    /// not known, and nothing may be released early.
    public mutating func restore(_ cursor: CohortCursor, of name: CohortName, at now: Instant) {
        let now = advance(to: now)
        guard let position = cohorts.position(of: name) ?? cohorts.admit(name, at: now, by: timeline) else { return }
        var cursor = cursor
        cursor.released = min(cursor.released, timeline.last)
        if let hasVideo = cursor.hasVideo { cohorts[position].noteVideo(hasVideo) } else { assumeVideo(of: name) }
        cohorts.skip(position, to: cursor, at: now, by: timeline)
    }

    /// Puts a cohort where a checkpoint has it. A cohort that is no longer allowed is left out.
    mutating func restore(_ name: CohortName, _ cursor: CohortCursor, waitsFrom: Instant, at now: Instant) {
        guard let position = cohorts.position(of: name) ?? cohorts.admit(name, at: now, by: timeline) else { return }
        cohorts.replace(position, at: cursor, waitsFrom: waitsFrom, at: now, by: timeline)
    }

    /// Notes what a checkpoint has of a cohort's video and of its clock, as far as the cohort exists.
    mutating func restore(hasVideo: Bool, _ clock: SavedClock?, of name: CohortName) {
        guard let position = cohorts.position(of: name) else { return }
        cohorts[position].noteVideo(hasVideo)
        cohorts[position].restore(clock)
        cohorts.reschedule(position, by: timeline)
    }

    /// Rule 16: a cohort of a room that has had a clock counts as one with a video, unless somebody knows better.
    fileprivate mutating func assumeVideo(of name: CohortName) {
        guard timeline.epochs.haveSeenClock, let position = cohorts.position(of: name) else { return }
        cohorts[position].assumeVideo()
        cohorts.reschedule(position, by: timeline)
    }

    /// Rule 18: notes what a checkpoint has of the last provisional epoch. One that is there counts as logged where it says
    /// nothing.
    /// - Parameter earlier: see ``earlierProvisional``.
    mutating func restoreProvisional(_ last: UInt64?, after earlier: UInt64 = 0) {
        let provisional = timeline.epochs.provisional
        lastProvisional = last ?? provisional?.first ?? 0
        earlierProvisional = earlier
        isProvisionalLogged = last == nil
    }

    /// Rule 18: the last provisional epoch where a checkpoint has to name it: one that the log may not have, or one that is
    /// over and would begin again with another record of it.
    var provisionalToSave: UInt64? {
        guard let provisional = timeline.epochs.provisional else {
            return lastProvisional > timeline.forgotten ? lastProvisional : nil
        }
        return isProvisionalLogged ? nil : provisional.first
    }

    /// Rule 18: the provisional epoch before one that the log may not have, where another record of it could begin it again.
    var earlierProvisionalToSave: UInt64? {
        let isWanted = timeline.epochs.provisional != nil && !isProvisionalLogged
        return isWanted && earlierProvisional > timeline.forgotten ? earlierProvisional : nil
    }
}
