import StrokeWire

extension CheckpointWriter {
    /// The gate times of all operations that some cohort holds.
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
    }
}

extension CheckpointReader {
    /// - Parameter count: how many operations there are after `index`.
    mutating func timeline(after index: UInt64, count: Int) throws(CheckpointError) -> GateTimeline {
        let epochs = try epochs()
        var entries: [GateTimeline.Entry] = []
        for _ in 0..<count {
            let epoch = epochs.current.number &+ (try signed())
            entries.append(
                GateTimeline.Entry(
                    epoch: epoch, time: try usableTime(), gateTime: try usableTime(), loggedAt: try localTime()))
        }
        return GateTimeline(after: index, entries, epochs)
    }
}
