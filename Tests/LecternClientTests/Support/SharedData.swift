import Foundation

/// The recorded lessons, which lie beside the repository and are not part of it.
enum SharedData {
    /// `LECTERN_SHARED_DATA`, else `../shared/data` from the package's root.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["LECTERN_SHARED_DATA"] {
            return URL(fileURLWithPath: path)
        }
        let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
        return URL(fileURLWithPath: "../../../../shared/data", relativeTo: support).standardizedFileURL
    }()

    static var hasLessons: Bool {
        FileManager.default.fileExists(atPath: lesson("cursive-short"))
    }

    /// The path of a recording.
    static func lesson(_ name: String) -> String {
        folder.appendingPathComponent("lessons/\(name).ndjson").path
    }
}
