import Foundation
import TestSupport
import Testing

/// The places that name the release.
@Suite(.endsProcesses) struct ReleaseTests {
    private static func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: PackageRoot.path(to: file))), as: UTF8.self)
    }

    @Test func `the program, the changelogs and the HTTP description name the same release`() async throws {
        let (code, log) = try await LecternProcess.run("--version")
        let version = log.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(code == 0)
        let newest = try #require(try Self.text("CHANGELOG.md").firstMatch(of: /\n## ([0-9.]+)\n/))
        #expect(String(newest.1) == version)
        #expect(try Self.text("config/debian/changelog").hasPrefix("lectern (\(version)) "))
        let description = try Self.text("Sources/Site/api/openapi.json")
        #expect(description.contains(#""version": "\#(version)""#))
        #expect(try Self.text("Sources/lectern/Operating.docc/Installing.md").contains("lectern_\(version)_"))
    }

    @Test func `every earlier release names a commit, and the repository has it`() async throws {
        let releases = try Self.text("CHANGELOG.md").components(separatedBy: "\n## ").dropFirst()
        #expect(releases.count > 1)
        for release in releases.dropFirst() {
            let commit = try #require(release.firstMatch(of: /\nCommit: ([0-9a-f]{7,40})\n/)?.1, "\(release.prefix(9))")
            // A copy of the sources may have no history.
            guard let git = InstalledProgram("git"),
                FileManager.default.fileExists(atPath: PackageRoot.path(to: ".git"))
            else { continue }
            let here = ["-C", PackageRoot.path(to: ".")]
            let shallow = try git.run(here + ["rev-parse", "--is-shallow-repository"])
            guard shallow.map({ String(decoding: $0, as: UTF8.self) }) == "false\n" else { continue }
            let kind = try git.run(here + ["cat-file", "-t", String(commit)])
            #expect(kind.map { String(decoding: $0, as: UTF8.self) } == "commit\n")
        }
    }
}
