import AssetOpener
import Assets
import Foundation
import TestSupport
import Testing

/// What a child that a file has taken over can do: nothing.
@Suite(.serialized) struct SandboxTests {
    /// Makes attempts in the sandbox.
    /// - Returns: what came of each.
    private func attempts(_ kind: String) throws -> [String: String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let kept = folder.appendingPathComponent("kept")
        try "kept".write(to: kept, atomically: true, encoding: .utf8)
        let probe = try #require(InstalledProgram(path: try Opening.path(of: "asset-sandbox-probe")))
        let output = try #require(try probe.run([kind, folder.path]))
        #expect(try String(contentsOf: kept, encoding: .utf8) == "kept")
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").dropFirst()
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (String(parts[0]), parts.last?.trimmingCharacters(in: .whitespaces) ?? "")
            })
    }

    private let changes = [
        "socket", "unix socket", "io_uring", "fork", "signal", "signal owner", "signal number", "trace", "change",
        "create", "truncate", "delete", "rename", "folder", "mode", "read the parent", "raise limits",
    ]

    @Test(arguments: ["images", "threads"])
    func `A decoder can use nothing but its memory and its pipes, and that of HEIC some threads`(kind: String) throws {
        let attempts = try attempts(kind)
        for attempt in changes + ["read a file of others", "read passwords", "read fonts"] {
            #expect(attempts[attempt] == "Operation not permitted", "\(attempt)")
        }
        #expect((attempts["thread"] == "allowed") == (kind == "threads"))
        guard kind == "threads" else { return }
        let most = try #require(attempts["most threads"].flatMap { Int($0) })
        // 0 is what "unlimited" reads as.
        #expect(1...4096 ~= most)
    }

    @Test func `A program of poppler can read fonts besides, and no other file where the kernel has Landlock`() throws {
        let attempts = try attempts("programs")
        for attempt in changes { #expect(attempts[attempt] == "Operation not permitted", "\(attempt)") }
        #expect(attempts["thread"] != "allowed")
        #expect(attempts["read fonts"] == "allowed")
        #expect(AssetOpener.restrictsFiles == (attempts["landlock"] == "allowed"))
        // Older kernels, and containers that forbid it, have no Landlock.
        guard attempts["landlock"] == "allowed" else { return }
        #expect(attempts["read passwords"] == "Permission denied")
        #expect(attempts["read a file of others"] == "Permission denied")
    }

    @Test func `Without a sandbox nothing is opened`() async throws {
        let opener = AssetOpener(program: try Opening.path(of: "asset-sandbox-probe"))
        let image = SamplePNG.file(SampleImage(width: 2, height: 2) { _, _ in [1, 2, 3, 255] })
        for file in [image, SamplePDF.pages(["/MediaBox [0 0 9 9]"])] {
            guard case .noSandbox(let reason)? = try await opener.refusal(file) else {
                throw Unexpected("a file was opened")
            }
            #expect(reason.hasPrefix("seccomp cannot be had"))
        }
    }
}
