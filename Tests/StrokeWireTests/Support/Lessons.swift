import Foundation

/// Real handwriting as stroke messages, from the data that lies beside the package; it is no part of it.
enum Lessons {
    static let names = ["cursive-short", "cursive-long", "pencil"]

    /// Whether the data is there. Without it the tests that need it are skipped.
    static var arePresent: Bool { FileManager.default.fileExists(atPath: file("pencil").path) }

    static let absence = "needs ../shared/data/lessons, or LECTERN_SHARED_DATA"

    /// The messages of a lesson, one a line.
    static func messages(_ name: String) throws -> [[UInt8]] {
        try Data(contentsOf: file(name)).split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    static func all() throws -> [[UInt8]] { try names.flatMap { try messages($0) } }

    private static func file(_ name: String) -> URL {
        let directory: URL
        if let path = ProcessInfo.processInfo.environment["LECTERN_SHARED_DATA"] {
            directory = URL(filePath: path)
        } else {
            var root = URL(filePath: #filePath).resolvingSymlinksInPath()
            while root.pathComponents.count > 1, root.lastPathComponent != "Tests" { root.deleteLastPathComponent() }
            directory = root.appending(path: "../../shared/data").standardized
        }
        return directory.appending(path: "lessons/\(name).ndjson")
    }
}
