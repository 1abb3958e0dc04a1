import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// The client of the documentation beside a real server and a real daemon.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct ExampleClientTests {
    @Test func `the clients of the documentation, over NATS and HTTP, print what is released and have the board`()
        async throws
    {
        try await BoardService.with { service in
            let url = service.nats.url
            let gateway = "http://127.0.0.1:\(try await service.daemon.httpPort())/"
            let client = try LecternProcess(["physics", url, "6"], program: "follow")
            let overHTTP = try LecternProcess(["physics", gateway, "6"], program: "follow-http")
            try await publish(on: url)
            let clock = try LecternProcess(["clock", "--room", "physics", "--latency", "0s", "--nats", url])
            #expect(await client.exitCode() == 0)
            #expect(await overHTTP.exitCode() == 0, "\(overHTTP.log)")
            clock.send(SIGTERM)
            // Without what it logs.
            let lines = client.log.split(separator: "\n").filter { !$0.contains(" follow: ") }
            let released = ["1 draw", "2 draw", "3 undo", "4 redo", "5 draw", "6 undo"].map { "\($0) by anna" }
            // Whatever it has not joined with comes one by one.
            let joined = try #require(lines.first?.split(separator: " ").dropFirst(2).first?.dropLast())
            let index = try #require(Int(joined))
            #expect(lines.dropFirst().dropLast().map(String.init) == Array(released.dropFirst(index)), "\(client.log)")
            // The digest of strokes 1 and 2, as in the articles of StrokeWire.
            let board = "the board has 2 strokes, digest 286263caa599b38f"
            #expect(lines.last.map(String.init) == board)
            let linesOverHTTP = overHTTP.log.split(separator: "\n")
            #expect(linesOverHTTP.first?.hasPrefix("joined at ") == true, "\(overHTTP.log)")
            #expect(linesOverHTTP.last.map(String.init) == board)
        }
    }

    @Test func `the documentation over HTTP has the client that is run here`() throws {
        let page = try String(
            contentsOfFile: PackageRoot.path(
                to: "Sources/LecternHTTPClient/LecternHTTPClient.docc/LecternHTTPClient.md"), encoding: .utf8)
        for file in ["Package.swift", "Sources/follow-http/FollowHTTP.swift"] {
            let source = try String(
                contentsOfFile: PackageRoot.path(to: "Tests/HTTPClientExample/\(file)"), encoding: .utf8)
            #expect(page.contains("```swift\n\(source)```\n"), "\(file)")
            #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
        }
    }

    /// Publishes a small lesson whose last operation is due after a second.
    private func publish(on server: String) async throws {
        let stroke = #""d":[{"x":1,"y":2},{"x":3,"y":4}]"#
        let lesson = [
            #"{"n":1,"t":0,\#(stroke)}"#, #"{"n":2,"t":100,\#(stroke)}"#, #"{"n":3,"a":2,"t":200}"#,
            #"{"n":4,"a":3,"t":300}"#, #"{"n":5,"t":400,\#(stroke)}"#, #"{"n":6,"a":2,"t":1000}"#,
        ]
        let file = try TestFiles.url("lesson.ndjson")
        try lesson.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let published = try await LecternProcess.run(
            "publish", file.path, "--room", "physics", "--author", "anna", "--nats", server)
        #expect(published.exitCode == 0, "\(published.log)")
    }
}
