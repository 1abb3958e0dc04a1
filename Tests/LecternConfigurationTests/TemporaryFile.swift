internal import Foundation

/// Hands a file with some contents to a body, and removes it afterwards.
func withFile<Result>(_ contents: [UInt8], _ body: (_ path: String) throws -> Result) throws -> Result {
    let file = FileManager.default.temporaryDirectory.appending(path: "lectern-\(UUID().uuidString).yaml")
    try Data(contents).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path)
}
