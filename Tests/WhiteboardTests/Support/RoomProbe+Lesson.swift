import TestSupport
import Whiteboard

extension RoomProbe {
    /// A room that a lesson was written to, a hundred messages a second, without a clock.
    init(hearing lesson: RecordedLesson) throws {
        self.init(RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(policy: .hold))))
        for message in try lesson.messages() {
            wait(.milliseconds(10))
            send(message)
        }
    }
}
