import Foundation
import LecternClient
import Testing

@Suite("Reading a lesson file")
struct LessonFileTests {
    /// A path that nothing has yet.
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ndjson").path

    private func failure() -> LessonFileError? {
        #expect(throws: LessonFileError.self) { try Lesson(contentsOfFile: path) }
    }

    @Test("a file that is not there is told by its name")
    func missing() {
        let error = failure()
        #expect(error?.cause == .missing)
        #expect(error?.description == "\(path): no such file")
    }

    @Test("an empty name is that of no file")
    func empty() {
        #expect(throws: LessonFileError.self) { try Lesson(contentsOfFile: "") }
    }

    @Test("a directory is told from a file")
    func directory() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description == "\(path): is a directory")
    }

    @Test("a file that may not be read is told as such", .enabled(if: geteuid() != 0, "root may read everything"))
    func notPermitted() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: Data(), attributes: [.posixPermissions: 0]))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description == "\(path): permission denied")
    }

    @Test("a line that is no message is told with the file and its number")
    func malformed() throws {
        try Data("{\"n\":1,\"a\":2}\n{\"n\":2,\"a\":9}\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(failure()?.description.hasPrefix("\(path): line 2: unknown-action at a: ") == true)
    }
}
