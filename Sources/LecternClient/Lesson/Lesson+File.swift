internal import Foundation

extension Lesson {
    /// Reads a lesson file; see ``init(ndjson:limits:)``.
    ///
    /// - Throws: why the file cannot be read, or the line of it that is no valid message.
    public init(contentsOfFile path: String) throws(LessonFileError) {
        let contents = try Self.contents(ofFile: path)
        do throws(LessonError) {
            try self.init(ndjson: contents)
        } catch {
            throw LessonFileError(path: path, cause: .malformed(error))
        }
    }

    private static func contents(ofFile path: String) throws(LessonFileError) -> [UInt8] {
        // What the file system says of a directory differs from platform to platform.
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw LessonFileError(path: path, cause: .directory)
        }
        do {
            return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
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
