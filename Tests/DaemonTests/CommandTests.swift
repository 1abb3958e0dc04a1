import Cryptography
import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// `lectern render`, without a server.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) final class RenderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("render-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test func `the built-in lesson is rendered`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("board.svg"))
        #expect(code == 0)
        #expect(log.contains("operation 289, 101 strokes"))
        #expect(try String(contentsOfFile: path("board.svg"), encoding: .utf8).contains("<svg"))
    }

    @Test func `a page of specimens has a name and handwriting for every ink style, in every format`() async throws {
        for format in ["png", "svg", "pdf"] {
            let (code, log) = try await LecternProcess.run("render", "--specimens", "-o", path("styles.\(format)"))
            #expect(code == 0 && log.contains("10 specimens"), "\(log)")
            #expect(try Data(contentsOf: URL(filePath: path("styles.\(format)"))).count > 5000)
        }
        let page = try String(contentsOfFile: path("styles.svg"), encoding: .utf8)
        // A colour for the names and one for each hand; hands of seven strokes.
        for colour in ["#8a8f98", "#1b2a49", "#7a1f3d", "#145a4a", "#3d2c6b", "#8a3b12", "#0b4f6c"] {
            #expect(page.split(separator: colour).count > 7, "\(colour)")
        }
        let (code, log) = try await LecternProcess.run("render", "demo", "--specimens", "-o", path("none.svg"))
        #expect(code == 64 && log.contains("without a lesson"))
        #expect(try await LecternProcess.run("render", "-o", path("none.svg")).exitCode == 64)
    }

    @Test func `standard input is rendered`() async throws {
        let lesson = """
            {"n":1,"t":0,"d":[{"x":1,"y":1},{"x":9,"y":9}]}
            {"n":2,"t":100,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":3,"a":2,"t":200}

            """
        try Data(lesson.utf8).write(to: URL(filePath: path("lesson.ndjson")))
        let process = try LecternProcess(["render", "-", "-o", path("board.svg")], input: path("lesson.ndjson"))
        #expect(await process.exitCode() == 0)
        #expect(process.log.contains("operation 3, 1 strokes"), "\(process.log)")
        // Without any input the lesson is empty.
        let (code, log) = try await LecternProcess.run("render", "-", "-o", path("empty.svg"))
        #expect(code == 0)
        #expect(log.contains("operation 0, 0 strokes"))
    }

    @Test func `a picture is of the page that is shown or named, a PDF has all pages in their order`() async throws {
        // Page 2 is hidden, page 0 comes last.
        let lesson = """
            {"n":1,"t":0,"c":1,"d":[{"x":1,"y":1},{"x":9,"y":9}]}
            {"n":2,"t":100,"c":2,"g":1,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":3,"t":150,"c":3,"g":2,"d":[{"x":5,"y":1},{"x":5,"y":9}]}
            {"n":4,"a":5,"g":1,"t":200}
            {"n":5,"a":6,"v":[1,0],"t":300}

            """
        try Data(lesson.utf8).write(to: URL(filePath: path("lesson.ndjson")))
        let colours = ["#d92020", "#1f4fd8", "#1a9850"]
        for (options, page) in [([], 1), (["--page", "0"], 0), (["--page", "2"], 2)] {
            let arguments = ["render", path("lesson.ndjson"), "-o", path("board.svg")] + options
            let process = try LecternProcess(arguments)
            #expect(await process.exitCode() == 0)
            #expect(process.log.contains("operation 5, page \(page), 1 strokes"), "\(process.log)")
            let picture = try String(contentsOfFile: path("board.svg"), encoding: .utf8)
            #expect(colours.indices.filter { picture.contains(colours[$0]) } == [page])
        }
        let (code, log) = try await LecternProcess.run("render", path("lesson.ndjson"), "-o", path("board.pdf"))
        #expect(code == 0 && log.contains("operation 5, 2 pages, 2 strokes"), "\(log)")
        let document = String(decoding: try Data(contentsOf: URL(filePath: path("board.pdf"))), as: UTF8.self)
        #expect(document.contains("/Count 2"))
        let wrong = try await LecternProcess.run("render", "demo", "-o", path("none.svg"), "--page", "1000")
        #expect(wrong.exitCode == 64)
    }

    @Test func `images show files that are given, and frames without, and lassos cut them`() async throws {
        let file = Array(
            """
            %PDF-1.4
            1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
            2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj
            3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 40 30] >> endobj
            trailer << /Root 1 0 R >>
            %%EOF

            """.utf8)
        let id = AssetID(digest: SHA256.hash(file).bytes)?.description ?? ""
        let lesson = """
            {"n":1,"t":0,"e":5,"i":"\(id)","w":400,"h":300,"d":[{"x":0,"y":0},{"x":200,"y":150}]}
            {"n":2,"t":0,"e":5,"i":"\(id)","p":7,"w":400,"h":300,"d":[{"x":200,"y":0},{"x":400,"y":150}]}
            {"n":3,"t":0,"e":6,"w":400,"h":300,"d":[{"x":0,"y":0},{"x":50,"y":0},{"x":0,"y":300}]}

            """
        try Data(lesson.utf8).write(to: URL(filePath: path("lesson.ndjson")))
        try Data(file).write(to: URL(filePath: path("slides.pdf")))
        try Data("GIF89a".utf8).write(to: URL(filePath: path("other.gif")))
        let arguments = ["render", path("lesson.ndjson"), "-o", path("board.svg")]
        func picture(_ options: [String]) async throws -> (images: Int, frames: Int, clips: Int) {
            let process = try LecternProcess(arguments + options)
            #expect(await process.exitCode() == 0)
            #expect(process.log.contains("operation 3, 0 strokes, 2 images, 1 lassos"), "\(process.log)")
            let picture = try String(contentsOfFile: path("board.svg"), encoding: .utf8)
            return (
                picture.ranges(of: "<image ").count, picture.ranges(of: "#b0b0b0").count,
                picture.ranges(of: "clip-path=").count
            )
        }
        // The file has no page 7.
        #expect(try await picture(["--asset", path("slides.pdf")]) == (1, 1, 1))
        #expect(try await picture([]) == (0, 2, 1))
        let missing = try await LecternProcess.run(
            "render", path("lesson.ndjson"), "-o", path("none.svg"), "--asset", path("none.pdf"))
        #expect(missing.exitCode == 1 && missing.log == "lectern: cannot read \(path("none.pdf"))\n")
        // One that no image shows is not opened.
        #expect(try await picture(["--asset", path("other.gif")]) == (0, 2, 1))
    }

    @Test func `a lesson that ends before the requested operation is not rendered`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("board.svg"), "--at", "290")
        #expect(code == 1)
        #expect(log == "lectern: demo ends at operation 289, before --at 290\n")
        #expect(!FileManager.default.fileExists(atPath: path("board.svg")))
    }

    @Test func `a missing folder is reported by its name`() async throws {
        let (code, log) = try await LecternProcess.run("render", "demo", "-o", path("none/board.svg"))
        #expect(code == 1)
        #expect(log == "lectern: \(path("none/board.svg")): cannot be written: there is no folder \(path("none"))\n")
    }
}

/// Commands whose NATS user lacks a permission.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct PermissionTests {
    @Test(arguments: [
        (["watch", "--room", "a"], "publish to ink.0.a.join.main"),
        (["clock", "--room", "a"], "publish to ink.0.a.clock.main"),
        (["publish", "demo", "--room", "a", "--author", "ann", "--quiet"], "publish to ink.0.a.in.ann"),
        (["close", "a"], "publish to ink.0.a.info"),
        (["rooms"], "publish to ink.rooms"),
    ])
    func `a command reports the missing permission, not a missing reply`(
        _ command: [String], _ denied: String
    ) async throws {
        let configuration = """
            accounts: { CLASS: { users: [
              { user: ann, password: ann, permissions: { publish: { deny: "ink.>" } } } ] } }
            """
        try await NATSTestServer.with(configuration: configuration) { nats in
            let process = try LecternProcess(command + ["--nats", "nats://ann:ann@127.0.0.1:\(nats.port)"])
            #expect(await process.exitCode() == 1)
            #expect(process.log.hasSuffix("lectern: this NATS user may not \(denied)\n"))
        }
    }

    @Test func `missing credentials are reported at once, with status 2`() async throws {
        let (code, log) = try await LecternProcess.run("rooms", "--credentials", "/no/such.creds")
        #expect(code == 2)
        #expect(log.contains("/no/such.creds: the credentials cannot be read: No such file or directory"))
    }

    @Test func `following the head without a service fails and says why`() async throws {
        try await NATSTestServer.with { nats in
            let (code, log) = try await LecternProcess.run(
                "watch", "--room", "a", "--head", "--for", "1s", "--nats", nats.url)
            #expect(code == 1)
            #expect(log.contains("never joined: nobody answers at ink.0.a"))
        }
    }
}

/// Two publishers with one author.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SessionTests {
    @Test func `a publisher ends with an error once its author has begun another session`() async throws {
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess("service", nats: nats.url, ["journal.mode=none"])
            try await daemon.waitUntilServing()
            let publish = ["publish", "demo", "--room", "a", "--author", "ann", "--nats", nats.url]
            let first = try LecternProcess(publish + ["--session", "one"])
            try await first.waitForLog("applied 1 ")
            let second = try LecternProcess(publish + ["--session", "two", "--speed", "1000"])
            #expect(await first.exitCode() == 1)
            #expect(first.log.contains("lectern: the session one is over: ann has begun another one since."))
            #expect(await second.exitCode() == 0)
            // The old session cannot be continued either.
            let again = try LecternProcess(publish + ["--session", "one", "--speed", "1000", "--quiet", "--json"])
            #expect(await again.exitCode() == 1)
            #expect(again.log.contains(#""ended_session":"one""#))
            #expect(await daemon.terminate() == 0)
        }
    }
}

/// The daemon and the commands as the users of config/cluster, over TLS.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct AccountTests {
    private static let password = "50% of:it,@/%41#"

    /// The example's accounts, all with one password.
    private func configuration(_ certificates: TestCertificates) throws -> String {
        var text = try String(contentsOfFile: PackageRoot.path(to: "config/cluster/accounts.conf"), encoding: .utf8)
        for role in ["SERVICE", "GATEWAY", "TEACHER", "STUDENT", "CLOCK", "OPERATOR"] {
            text = text.replacing("$INK_\(role)_PASSWORD", with: "'\(Self.password)'")
        }
        return certificates.serverConfiguration() + text
    }

    @Test func `each user's command works over TLS, and the gateway serves pages`() async throws {
        let certificates = try TestCertificates()
        defer { certificates.remove() }
        try await NATSTestServer.with(jetStream: true, configuration: try configuration(certificates)) { nats in
            let url = "tls://127.0.0.1:\(nats.port)"
            let files = ["LECTERN_NATS_CA": certificates.authority, "LECTERN_NATS_PASSWORD": Self.password]
            func start(_ arguments: [String], _ more: [String: String] = [:]) throws -> LecternProcess {
                try LecternProcess(arguments + ["--nats", url], environment: files.merging(more) { $1 })
            }
            let daemon = try start(
                [
                    "serve", "--http", "127.0.0.1:0", "--set", "nats.user=service", "--set",
                    "nats.gateway_user=gateway", "--set", "subjects.partitions=8",
                ], ["LECTERN_NATS_GATEWAY_PASSWORD": Self.password])
            try await daemon.waitForLog(" serving")

            let room = ["--room", "physics", "--partitions", "8"]
            let ink = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).inkml").path
            try Data("<ink><trace>1 2, 3 4</trace></ink>".utf8).write(to: URL(filePath: ink))
            defer { try? FileManager.default.removeItem(atPath: ink) }
            let clock = try start(["clock", "--user", "clock"] + room)
            let student = try start(["watch", "--user", "sam"] + room)
            try await student.waitForLog(#""event":"joined""#)
            let teacher = try start(["publish", "demo", "--author", "ann", "--user", "ann", "--speed", "100"] + room)
            #expect(await teacher.exitCode() == 0, "\(teacher.log)")
            let importing = try start(["import", ink, "--author", "ann", "--user", "ann"] + room)
            #expect(await importing.exitCode() == 0, "\(importing.log)")
            let rooms = try start(["rooms", "--user", "operator"])
            #expect(await rooms.exitCode() == 0, "\(rooms.log)")
            #expect(rooms.log.contains("physics"))
            let page = try await HTTPClient(port: try await daemon.httpPort()).get("/api/rooms/physics")
            #expect(page.text.contains("\"ink.2.physics\""))

            // A command reports what its user may not do.
            let spy = try start(["watch", "--head", "--user", "sam"] + room)
            #expect(await spy.exitCode() == 1)
            #expect(spy.log.contains("this NATS user may not"))
            for process in [clock, student, daemon] { process.send(SIGTERM) }
            for process in [clock, student, daemon] { #expect(await process.exitCode() == 0, "\(process.log)") }
            #expect(!daemon.log.contains("Permissions Violation"), "\(daemon.log)")
        }
    }

    @Test func `with these users tokens are revoked and rooms erased, and nobody asks for more than it may`()
        async throws
    {
        let certificates = try TestCertificates()
        defer { certificates.remove() }
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).secret").path
        try Data("a secret of the test with more than 32 bytes".utf8).write(to: URL(filePath: secret))
        defer { try? FileManager.default.removeItem(atPath: secret) }
        try await NATSTestServer.with(jetStream: true, configuration: try configuration(certificates)) { nats in
            let files = ["LECTERN_NATS_CA": certificates.authority, "LECTERN_NATS_PASSWORD": Self.password]
            func start(_ arguments: [String], _ more: [String: String] = [:]) throws -> LecternProcess {
                try LecternProcess(
                    arguments + ["--nats", "tls://127.0.0.1:\(nats.port)"], environment: files.merging(more) { $1 })
            }
            let daemon = try start(
                [
                    "serve", "--http", "127.0.0.1:0", "--set", "nats.user=service", "--set",
                    "nats.gateway_user=gateway", "--set", "subjects.partitions=8", "--set", "auth.mode=token", "--set",
                    "auth.secret_file=\(secret)", "--set", "checkpoint.interval=1s",
                ], ["LECTERN_NATS_GATEWAY_PASSWORD": Self.password])
            try await daemon.waitForLog(" serving")
            let http = HTTPClient(port: try await daemon.httpPort())
            _ = try await eventually("it is ready") { try await http.get("/readyz").statusCode == 200 ? () : nil }
            let token = try await LecternProcess.run(
                "token", "--secret-file", secret, "--role", "operator", "--expires", "1h"
            ).log.trimmingCharacters(in: .whitespacesAndNewlines)
            func status() async throws -> Int {
                try await http.send("GET", "/metrics", headers: [("Authorization", "Bearer \(token)")]).statusCode
            }
            #expect(try await status() == 200)
            let room = ["--room", "physics", "--partitions", "8"]
            let teacher = try start(["publish", "demo", "--author", "ann", "--user", "ann", "--speed", "100"] + room)
            #expect(await teacher.exitCode() == 0, "\(teacher.log)")
            let revoking = try start(["revoke", token, "--user", "operator"])
            #expect(await revoking.exitCode() == 0, "\(revoking.log)")
            _ = try await eventually("it is refused") { try await status() == 401 ? () : nil }
            let erasing = try start(["erase", "physics", "--yes", "--partitions", "8", "--user", "operator"])
            #expect(await erasing.exitCode() == 0, "\(erasing.log)")
            #expect(erasing.log.contains("erased physics: deleted "), "\(erasing.log)")
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
            #expect(!daemon.log.contains("Permissions Violation"), "\(daemon.log)")
        }
    }

    @Test func `a daemon that cannot read the CA file says so and does not start`() async throws {
        let daemon = try LecternProcess(
            ["serve", "--nats", "tls://127.0.0.1:1", "--http", "off", "--set", "nats.ca=/no/such.pem"])
        #expect(await daemon.exitCode() == 78)
        #expect(daemon.log.contains("/no/such.pem: cannot be read: No such file or directory"))
    }
}

/// The client of the documentation beside a real server and a real daemon.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct ExampleClientTests {
    @Test func `the client of the documentation prints what is released, and has the room's board`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("service", nats: nats.url)
            try await daemon.waitUntilServing()
            let client = try LecternProcess(["physics", nats.url, "6"], program: "follow")
            try await publish(on: nats.url)
            let clock = try LecternProcess(["clock", "--room", "physics", "--latency", "0s", "--nats", nats.url])
            #expect(await client.exitCode() == 0)
            clock.send(SIGTERM)
            // Without what it logs.
            let lines = client.log.split(separator: "\n").filter { !$0.contains(" follow: ") }
            let released = ["1 draw", "2 draw", "3 undo", "4 redo", "5 draw", "6 undo"].map { "\($0) by anna" }
            // Whatever it has not joined with comes one by one.
            let joined = try #require(lines.first?.split(separator: " ").dropFirst(2).first?.dropLast())
            let index = try #require(Int(joined))
            #expect(lines.dropFirst().dropLast().map(String.init) == Array(released.dropFirst(index)), "\(client.log)")
            // The digest of strokes 1 and 2, as in the articles of StrokeWire.
            #expect(lines.last == "the board has 2 strokes, digest 286263caa599b38f")
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `the client of the documentation over HTTP does the same`() async throws {
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try DaemonProcess("service", nats: nats.url, http: "127.0.0.1:0")
            try await daemon.waitUntilServing()
            let gateway = "http://127.0.0.1:\(try await daemon.httpPort())/"
            let client = try LecternProcess(["physics", gateway, "6"], program: "follow-http")
            try await publish(on: nats.url)
            let clock = try LecternProcess(["clock", "--room", "physics", "--latency", "0s", "--nats", nats.url])
            #expect(await client.exitCode() == 0, "\(client.log)")
            clock.send(SIGTERM)
            let lines = client.log.split(separator: "\n")
            #expect(lines.first?.hasPrefix("joined at ") == true, "\(client.log)")
            #expect(lines.last == "the board has 2 strokes, digest 286263caa599b38f")
            #expect(await daemon.terminate() == 0)
        }
    }

    @Test func `the documentation over HTTP has the client that is run here`() throws {
        let page = try String(
            contentsOfFile: PackageRoot.path(
                to: "Sources/LecternHTTPClient/LecternHTTPClient.docc/LecternHTTPClient.md"),
            encoding: .utf8)
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
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lesson-\(UUID()).ndjson")
        try lesson.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let published = try await LecternProcess.run(
            "publish", file.path, "--room", "physics", "--author", "anna", "--nats", server)
        #expect(published.exitCode == 0, "\(published.log)")
    }
}

/// Times of strokes that `lectern publish` sends.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct TimeLineTests {
    /// Publishes a lesson of two strokes, 300 ms apart, that was recorded in UTC years ago.
    /// - Returns: the times that it went out with, and what the command said.
    private func publish(
        _ options: [String], on nats: NATSTestServer, _ name: String, first: Int = 1_600_000_000_000
    ) async throws -> (times: [Double], log: String) {
        let stroke = #""d":[{"x":1,"y":2},{"x":3,"y":4}]"#
        let lesson = [#"{"n":1,"t":\#(first),\#(stroke)}"#, #"{"n":2,"t":\#(first + 300),\#(stroke)}"#]
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lesson-\(UUID()).ndjson")
        try lesson.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await NATSConnection.with(nats) { connection in
            let sent = Recorder<[UInt8]>()
            try connection.subscribe("ink.0.\(name).in.ann") { sent.append($0.copyPayload()) }
            try await connection.flush()
            let command = try await LecternProcess.run(
                arguments: ["publish", file.path, "--room", name, "--author", "ann", "--quiet", "--nats", nats.url]
                    + options)
            guard command.exitCode == 0 else { throw Unexpected(command.log) }
            let messages = try await sent.values(2)
            return (try messages.compactMap { try AnyJSON.decode($0)["t"]?.double }, command.log)
        }
    }

    @Test func `strokes get UTC by the gateway or this machine, the time since a start, or keep their own`()
        async throws
    {
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess("a", nats: nats.url, http: "127.0.0.1:0", ["journal.mode=none"])
            try await daemon.waitUntilServing()
            let gateway = "http://127.0.0.1:\(try await daemon.httpPort())"
            var now: Double { Date().timeIntervalSince1970 * 1000 }

            for options in [["--gateway", gateway], []] {
                let begin = now
                let (times, log) = try await publish(["--time", "utc"] + options, on: nats, "utc\(options.count)")
                let first = try #require(times.first)
                #expect(begin...now ~= first && times.last == first + 300, "\(times)")
                guard !options.isEmpty else {
                    #expect(log.contains("time: UTC by this machine's clock"))
                    continue
                }
                let said = try #require(
                    log.firstMatch(
                        of: /which is ([0-9.]+) ms (?:ahead of|behind) this machine's clock, within ([0-9.]+) ms/))
                // Both clocks are this machine's.
                #expect(try #require(Double(said.1)) <= (try #require(Double(said.2))) + 0.1, "\(said.0)")
            }

            #expect(try await publish(["--time", "since-start"], on: nats, "start").times == [0, 300])
            let hour = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -3600))
            let since = try await publish(["--time", "since-start", "--start", hour], on: nats, "hour").times
            #expect(try 3_600_000...3_630_000 ~= #require(since.first) && since.last == since[0] + 300, "\(since)")
            #expect(try await publish([], on: nats, "media", first: 100).times == [100, 400])
        }
    }

    @Test func `a gateway that does not answer ends the command`() async throws {
        try await NATSTestServer.with { nats in
            let command = try await LecternProcess.run(
                "publish", "demo", "--room", "a", "--author", "ann", "--nats", nats.url, "--time", "utc", "--gateway",
                "http://127.0.0.1:1")
            #expect(command.exitCode == 2)
            #expect(command.log.contains("no time from http://127.0.0.1:1"))
        }
    }
}

/// Strokes that are being drawn, from command to command.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct WetCommandTests {
    private struct Line: Decodable {
        struct Release: Decodable {
            struct Point: Decodable, Equatable {
                let x: Double
                let y: Double
                let m: Double?
            }

            let n: Int
            let k: Int
            let d: [Point]
        }

        struct Message: Decodable {
            let n: Int
            let d: [Release.Point]?
        }

        let event: String?
        let at: Int
        let release: Release?
        let message: Message?
    }

    @Test(arguments: [true, false])
    func `a lesson grows on the screen of who watches, point by point, before its strokes are released`(
        _ isSent: Bool
    ) async throws {
        try await NATSTestServer.with { nats in
            let daemon = try DaemonProcess(
                "service", nats: nats.url, ["journal.mode=none", "cohorts.default.ink=progressive"])
            try await daemon.waitUntilServing()
            let lesson = FileManager.default.temporaryDirectory.appendingPathComponent("wet-\(UUID()).ndjson")
            defer { try? FileManager.default.removeItem(at: lesson) }
            let strokes = (1...2).map { number in
                let points = (0..<60).map { #"{"x":\#($0),"y":\#(number),"m":\#($0 * 16)}"# }
                return #"{"n":\#(number),"t":\#(number * 1000),"d":[\#(points.joined(separator: ","))]}"#
            }
            try Data(strokes.joined(separator: "\n").utf8).write(to: lesson)
            let room = ["--room", "a", "--nats", nats.url]
            let watch = try LecternProcess(["watch", "--wet", "--until-index", "2", "--for", "30s", "--quiet"] + room)
            try await watch.waitForLog("joined")
            let clock = try LecternProcess(["clock", "--latency", "1s", "--quiet"] + room)
            let publish = try LecternProcess(
                ["publish", lesson.path, "--author", "ann", "--quiet", "--json"] + (isSent ? [] : ["--no-wet"]) + room)
            #expect(await watch.exitCode() == 0, "\(watch.log)")
            #expect(await publish.exitCode() == 0, "\(publish.log)")
            clock.send(SIGINT)
            let summary = try AnyJSON.decode(Array(publish.log.utf8))
            let updates = summary["wet_updates"]?.double ?? -1
            #expect(isSent ? updates > 20 : updates == 0, "\(publish.log)")

            let lines = try watch.log.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            for number in 1...2 {
                let end = try #require(lines.firstIndex { $0.message?.n == number })
                let points = try #require(lines[end].message?.d)
                var grown: [Line.Release.Point] = []
                var beginning: Int?
                for line in lines[..<end] {
                    guard let release = line.release, release.n == number else { continue }
                    beginning = beginning ?? line.at
                    #expect(release.k <= grown.count)
                    grown.replaceSubrange(release.k..<min(grown.count, release.k + release.d.count), with: release.d)
                }
                // It grows for as long as it was drawn: the rest of its points comes with the operation.
                #expect(grown.count > 50 && grown == Array(points.prefix(grown.count)))
                let span = lines[end].at - (beginning ?? lines[end].at)
                #expect(span > 500, "\(span) ms")
                #expect(!lines[(end + 1)...].contains { $0.release?.n == number })
            }
        }
    }
}
