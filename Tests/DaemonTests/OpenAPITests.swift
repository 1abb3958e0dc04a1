import Foundation
import TestSupport
import Testing

/// The program, where there is one.
private let schemathesis = EnvironmentVariable("LECTERN_SCHEMATHESIS").text

/// The built daemon against requests that schemathesis makes of its own description.
@Suite(
    "OpenAPI", .timeLimit(.minutes(3)), .endsProcesses,
    .enabled("make openapi has schemathesis") { schemathesis != nil })
struct OpenAPITests {
    /// Not among them: whether a request that fits the schema is taken, for an index goes with an incarnation, and a
    /// message has rules that no schema tells.
    private static let checks = """
        not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
        response_schema_conformance,unsupported_method
        """

    @Test func `every answer is one that /api/openapi.json describes`() async throws {
        let program = try #require(schemathesis)
        try await BoardService.with { service in
            let port = try await service.daemon.httpPort()
            let output = Pipe()
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = [
                "run", "http://127.0.0.1:\(port)/api/openapi.json", "--checks", Self.checks,
                // A stream without an end; and bodies that schemathesis cannot write.
                "--exclude-path-regex", "/(events|observations|wet)$",
                "--max-examples", "50", "--seed", "\(TestSeed.choose() % 1_000_000)", "--generation-database", "none",
                "--no-color",
            ]
            // It leaves its cache there.
            process.currentDirectoryURL = FileManager.default.temporaryDirectory
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0 && text.contains(" generated, "), "\(text.suffix(8000))")
        }
    }
}
