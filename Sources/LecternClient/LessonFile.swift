internal import Foundation
internal import StrokeWire

extension Lesson {
    /// Reads a lesson file; see ``init(ndjson:limits:)``.
    ///
    /// - Throws: why the file cannot be read, or its first line without a valid message.
    public init(contentsOfFile path: String) throws(LessonFileError) {
        let contents = try Self.contents(ofFile: path)
        do throws(LessonError) {
            try self.init(ndjson: contents)
        } catch {
            throw LessonFileError(path: path, cause: .malformed(error))
        }
    }

    /// Reads a whole file, or a pipe.
    package static func contents(ofFile path: String) throws(LessonFileError) -> [UInt8] {
        // The error for a directory differs between platforms.
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw LessonFileError(path: path, cause: .directory)
        }
        do {
            // `Data(contentsOf:)` refuses pipes.
            return try Array(FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data())
        } catch {
            let cause: LessonFileError.Cause =
                switch (error as? CocoaError)?.code {
                case .fileReadNoSuchFile?, .fileNoSuchFile?: .missing
                case .fileReadNoPermission?: .notPermitted
                default: .unreadable(error.localizedDescription)
                }
            throw LessonFileError(path: path, cause: cause)
        }
    }
}

/// A lesson file that cannot be read.
public struct LessonFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Reason of the error.
    public enum Cause: Sendable, Equatable {
        /// The file does not exist.
        case missing
        /// The file is not readable by this process.
        case notPermitted
        case directory
        /// The system cannot read it, with the system's message.
        case unreadable(String)
        /// Its content is no lesson.
        case malformed(LessonError)
    }

    /// Path of the file as given.
    public let path: String
    /// Reason of the error.
    public let cause: Cause

    /// One line of text.
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
