import StrokeWire

/// The gate without its clocks: after a restart the video time is unknown until a sample arrives (rule 12).
extension CheckpointWriter {
    mutating func write(_ gate: Gate) {
        write(gate.timeline)
        write(list: gate.cohorts) { writer, cohort in
            writer.write(cohort.name.text)
            writer.write(cohort.released - gate.timeline.forgotten)
            writer.write(localTime: cohort.waitsFrom)
        }
    }
}

extension CheckpointReader {
    /// - Parameter held: how many operations there are after `index`.
    mutating func gate(
        _ configuration: CohortsConfiguration, after index: UInt64, held: Int, at now: Instant
    ) throws(CheckpointError) -> Gate {
        let timeline = try timeline(after: index, count: held)
        var gate = Gate(configuration: configuration, timeline: timeline, at: now)
        for _ in 0..<(try count()) {
            let name: CohortName = try name()
            let released = index + (try number())
            try require(released <= timeline.last)
            gate.restore(name, released: released, waitsFrom: try localTime(), at: now)
        }
        return gate
    }
}
