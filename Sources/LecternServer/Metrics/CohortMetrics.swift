import Metrics
import StrokeWire

/// The metrics of each cohort name, over all rooms.
///
/// Bounded: names beyond `bound` share the label `other`, for clients choose the names where cohorts are open.
final class CohortMetrics: Sendable {
    struct Handles: Sendable {
        let released: Counter
        let depth: Meter
        /// Seconds from due to published.
        let lateness: Recorder

        init(_ name: String) {
            let label = [("cohort", name)]
            released = Counter(label: "lectern_released_total", dimensions: label)
            depth = Meter(label: "lectern_gate_depth", dimensions: label)
            lateness = Recorder(
                label: "lectern_release_lateness_seconds", dimensions: label, aggregate: true)
        }
    }

    private static let bound = 64

    private let handles = Locked<[CohortName: Handles]>([:])
    private let other = Handles("other")

    subscript(cohort: CohortName) -> Handles {
        handles.withLock { handles in
            if let known = handles[cohort] { return known }
            guard handles.count < Self.bound else { return other }
            let made = Handles(cohort.text)
            handles[cohort] = made
            return made
        }
    }
}
