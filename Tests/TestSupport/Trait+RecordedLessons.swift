package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips what needs the recorded lessons where they are not, and says so.
    package static var needsRecordedLessons: Self {
        .enabled(if: RecordedLesson.areThere, "needs ../shared/data/lessons, or LECTERN_SHARED_DATA")
    }
}
