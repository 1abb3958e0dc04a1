import Foundation
import Locking
import NATSClient
import TestSupport
import Testing

/// The programs that a test has started.
///
/// All of them are ended: one left running would try to reconnect, and in the end find another test's NATS server on the
/// same port.
final class StartedProcesses: Sendable {
    @TaskLocal static var ofThisTest: StartedProcesses?

    private let children = Locked<[ChildProcess]>([])
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "lectern-\(UInt32.random(in: .min ... .max))")

    /// A folder for what programs leave behind, which is removed with them.
    func makeFolder() throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    func add(_ child: ChildProcess) {
        children.withLock { $0.append(child) }
    }

    func end() async {
        for child in children.withLock({ $0 }) where !child.hasExited { await child.end(timeout: .zero) }
        // A child of a program that was killed may still be writing.
        for _ in 0..<50 where FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.removeItem(at: folder)
            } catch {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

/// Files of a test, in a folder that is removed after the test's programs have ended.
enum TestFiles {
    /// A path where nothing is yet.
    static func url(_ name: String) throws -> URL {
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would remove \(name)") }
        return try started.makeFolder().appending(path: "\(UUID().uuidString.prefix(8))-\(name)")
    }

    static func path(_ name: String) throws -> String { try url(name).path }

    static func folder(_ name: String) throws -> URL {
        let folder = try url(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// - Returns: the path of the file.
    static func write(_ text: String, _ name: String) throws -> String { try write(Array(text.utf8), name) }

    static func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let file = try url(name)
        try Data(bytes).write(to: file)
        return file.path
    }
}

/// A folder of a test's files by their names.
struct TestFolder: Sendable {
    let url: URL
    var path: String { url.path }

    init() throws { url = try TestFiles.folder("folder") }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// - Returns: the path of the file.
    func write(_ text: String, _ name: String) throws -> String { try write(Array(text.utf8), name) }

    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try Data(bytes).write(to: url.appending(path: name))
        return path(name)
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }
}

/// Ends the programs of a test, however the test ends.
struct EndsProcesses: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let started = StartedProcesses()
        let result: Result<Void, any Error>
        do {
            result = .success(try await StartedProcesses.$ofThisTest.withValue(started) { try await function() })
        } catch {
            result = .failure(error)
        }
        await started.end()
        try result.get()
    }
}

extension Trait where Self == EndsProcesses {
    /// For every suite whose tests start programs.
    static var endsProcesses: Self { Self() }
}
