import Foundation

extension Lesson {
    /// Reads a lesson file; see ``init(ndjson:limits:)``.
    ///
    /// - Throws: what the file system says, or ``LessonError`` with the line at fault.
    public init(contentsOfFile path: String) throws {
        try self.init(ndjson: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    }
}
