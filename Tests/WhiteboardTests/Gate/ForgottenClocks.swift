import StrokeWire
@testable import Whiteboard

extension Gate {
    /// Forgets the clocks, as a restart does.
    /// - Parameter saved: the cursors that the restarted one has; nil for those of now.
    mutating func forgetClocks(at now: Instant, saved: [CohortName: CohortCursor]? = nil) {
        for position in cohorts.indices {
            let cohort = cohorts[position]
            var cursor = cursor(of: cohort)
            if let saved { cursor.clock = saved[cohort.name]?.clock }
            cohorts.replace(position, at: cursor, waitsFrom: cohort.waitsFrom, at: now, by: timeline)
        }
        cohorts.hasClocks = false
        asked = nil
    }
}
