/// Why a lesson file could not be read.
public struct LessonFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with a file.
    public enum Cause: Sendable, Equatable {
        /// Nothing has that path.
        case missing
        /// This process may not read it.
        case notPermitted
        /// It is a directory.
        case directory
        /// The system cannot read it; its words.
        case unreadable(String)
        /// It was read, and is no lesson.
        case malformed(LessonError)
    }

    /// The file, as it was given.
    public let path: String
    /// What is wrong with it.
    public let cause: Cause

    /// One line for a person.
    public var description: String {
        switch cause {
        case .missing: "\(path): no such file"
        case .notPermitted: "\(path): permission denied"
        case .directory: "\(path): is a directory"
        case .unreadable(let why): "\(path): cannot be read: \(why)"
        case .malformed(let error): "\(path): \(error)"
        }
    }
}
