import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// What the program does where its results cannot be written, where nobody reads them, and where its files are pipes.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct StandardStreamTests {
    /// Starts a script of the shell, in which `$0` is the program.
    private func start(_ script: String, _ arguments: String...) throws -> LecternProcess {
        try LecternProcess(["-c", script, try LecternProcess.path(of: "lectern")] + arguments, at: "/bin/sh")
    }

    /// Runs a script to its end.
    private func run(_ script: String, _ argument: String = "") async throws -> (code: Int32?, log: String) {
        let process = try start(script, argument)
        return (await process.exitCode(), process.log)
    }

    @Test func `a command whose results cannot be written says so and ends with status 1`() async throws {
        let lesson = try await run(#"exec "$0" lesson demo --messages >/dev/full"#)
        #expect(lesson.code == 1 && lesson.log == "lectern: standard output: No space left on device\n")
        let folder = try TestFolder()
        let secret = try folder.write("a secret of the test with more than 32 bytes\n", "secret")
        let token = try await run(
            #"exec "$0" token --secret-file "$1" --role student --expires 1h >/dev/full"#, secret)
        #expect(token.code == 1 && token.log.contains("No space left on device"))
    }

    @Test func `a command ends when the reader of its results has gone`() async throws {
        try await BoardService.with(["journal.mode=none"]) { service in
            let watch = try start(
                #"{ "$0" watch --room a --head --nats "$1"; echo "ended with $?" >&2; } | head -n 1"#, service.nats.url)
            try await watch.waitForLog(#""event":"joined""#)
            for number in 1...1000 {
                let stroke = #"{"n":\#(number),"c":1,"l":4,"t":0,"w":400,"h":300,"d":[{"x":1,"y":1}]}"#
                try service.connection.publish(Array(stroke.utf8), to: "ink.0.a.in.ann")
                try await service.connection.flush()
                if await watch.exitCode(within: .milliseconds(50)) != nil { break }
            }
            #expect(watch.log.contains("ended with \(128 + SIGPIPE)"), "\(watch.log)")
        }
    }

    @Test func `a command whose errors nobody can read ends with its status`() async throws {
        #expect(try await run(#"exec "$0" lesson /nothing 2>&-"#).code == 1)
        #expect(try await run(#"exec "$0" lesson /nothing 2>/dev/full"#).code == 1)
        #expect(try await run(#"exec "$0" rooms --nats nats://127.0.0.1:1 2>/dev/full"#).code == 2)
    }

    @Test func `a daemon whose log cannot be written serves`() async throws {
        try await NATSTestServer.with { nats in
            for format in ["json", "text"] {
                let daemon = try start(
                    #"exec "$0" serve --nats "$1" --http off --journal none --set "logging.format=$2" 2>/dev/full"#,
                    nats.url, format)
                try await eventually("it serves") {
                    if daemon.hasExited { throw Unexpected("it has ended") }
                    return try await LecternProcess.run("rooms", "--nats", nats.url).exitCode == 0 ? () : nil
                }
                daemon.send(SIGTERM)
                #expect(await daemon.exitCode() == 0)
            }
        }
    }

    @Test func `lessons, settings and secrets may come through a pipe`() async throws {
        let lesson = try await run(#""$0" lesson demo --messages | "$0" lesson /dev/stdin"#)
        #expect(lesson.code == 0 && lesson.log.contains("operations  289"), "\(lesson.log)")
        let folder = try TestFolder()
        let picture = try await run(
            #""$0" lesson demo --messages | "$0" render /dev/stdin -o "$1""#, folder.path("a.svg"))
        #expect(picture.code == 0 && picture.log.contains("operation 289"), "\(picture.log)")
        let check = try await run(#"echo "log: {tail: 5}" | "$0" check --config /dev/stdin"#)
        #expect(check.code == 0 && check.log.contains("log.tail = 5"), "\(check.log)")
        let token = try await run(
            """
            echo "a secret of the test with more than 32 bytes" \
            | "$0" token --secret-file /dev/stdin --role student --expires 1h
            """)
        #expect(token.code == 0 && token.log.hasPrefix("eyJ"), "\(token.log)")
        let both = try await run(#""$0" import - --password-file - --room a --author ann </dev/null"#)
        #expect(both.code == 64 && both.log.contains("only once"), "\(both.log)")
    }
}
