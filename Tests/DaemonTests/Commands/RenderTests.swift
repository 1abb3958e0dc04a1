import Foundation
import Testing

/// `lectern render`, with nothing else running.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) final class RenderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("render-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test func `the lesson that comes with the program is drawn`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("board.svg"))
        #expect(code == 0)
        #expect(log.contains("operation 289, 101 strokes"))
        #expect(try String(contentsOfFile: path("board.svg"), encoding: .utf8).contains("<svg"))
    }

    @Test func `standard input is drawn`() async throws {
        // It is empty here.
        let (code, log) = try await LecternProcess.run("render", "-", "-o", path("board.svg"))
        #expect(code == 0)
        #expect(log.contains("operation 0, 0 strokes"))
    }

    @Test func `a lesson that ends before the operation that is asked for is not drawn`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("board.svg"), "--at", "290")
        #expect(code == 1)
        #expect(log == "lectern: demo ends at operation 289, before --at 290\n")
        #expect(!FileManager.default.fileExists(atPath: path("board.svg")))
    }

    @Test func `a folder that is not there is told of by its name`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("none/board.svg"))
        #expect(code == 1)
        #expect(log == "lectern: \(path("none/board.svg")): cannot be written: there is no folder \(path("none"))\n")
    }
}
