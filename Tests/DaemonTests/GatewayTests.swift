import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Daemons that do a part each, and tokens of the command line.
@Suite(.timeLimit(.minutes(4)), .endsProcesses) struct GatewayTests {
    @Test func `a daemon has health and metrics at an address of their own, also without another one`() async throws {
        try await NATSTestServer.with { nats in
            let core = try await DaemonProcess.serving(
                "core", nats: nats.url, http: "off",
                ["node.roles=core", "journal.mode=none", "http.admin=127.0.0.1:0"])
            let admin = HTTPClient(port: try await core.httpPort())
            #expect(try await admin.get("/metrics").text.contains("lectern_operations_total"))
            #expect(try await admin.get("/api/rooms").statusCode == 404)
            #expect(await core.terminate() == 0)
        }
    }

    @Test func `a gateway serves the rooms of another daemon to those who have a token`() async throws {
        let secret = try TokenSecret()
        try await NATSTestServer.with { nats in
            let core = try await DaemonProcess.serving(
                "core", nats: nats.url, http: "127.0.0.1:0", ["node.roles=core", "journal.mode=none"])
            let gateway = try DaemonProcess(
                "gateway", nats: nats.url, http: "127.0.0.1:0", ["node.roles=gateway"] + secret.settings)
            let http = HTTPClient(port: try await gateway.httpPort())
            try await eventually("the gateway is ready", is: await http.get("/readyz").statusCode == 200)

            let teacher = try await secret.headers("--room", "r", "--role", "teacher", "--author", "anna")
            let stroke = #"{"n":1,"c":1,"l":4,"t":1,"w":400,"h":300,"d":[{"x":1,"y":2}]}"#
            #expect(try await http.send("POST", "/api/rooms/r/strokes", body: stroke).statusCode == 401)
            let written = try await http.send("POST", "/api/rooms/r/strokes", headers: teacher, body: stroke)
            #expect(written.text == #"{"results":[{"n":1,"index":1}]}"#)
            let board = try await http.send("GET", "/api/rooms/r/board.json?cohort=head", headers: teacher)
            #expect(try AnyJSON.decode(board.bytes)["index"] == .number(1))
            let student = try await secret.headers("--room", "r", "--role", "student")
            #expect(
                try await http.send("GET", "/api/rooms/r/board.json?cohort=head", headers: student).statusCode == 403)

            // The daemon without the role has its health and metrics there, and no rooms.
            let own = HTTPClient(port: try await core.httpPort())
            #expect(try await own.get("/readyz").statusCode == 200)
            #expect(try await own.get("/metrics").text.contains("lectern_operations_total"))
            #expect(try await own.get("/api/rooms").statusCode == 404)
            let nothing = try await own.get("/")
            #expect(nothing.statusCode == 404)
            #expect(nothing.text.contains("/healthz, /readyz and /metrics"))

            let operating = try await secret.headers("--role", "operator")
            let watched = try await http.send("GET", "/metrics", headers: operating)
            let metrics = try Exposition(watched.text)
            #expect(metrics["lectern_nats_connected"] == 1 && metrics["lectern_nats_dropped_total"] == 0)
            await nats.stop()
            try await eventually("it tells that NATS is away") {
                let watched = try await http.send("GET", "/metrics", headers: operating)
                return try Exposition(watched.text)["lectern_nats_connected"] == 0 ? () : nil
            }
            #expect(await gateway.terminate() == 0)
            #expect(await core.terminate() == 0)
        }
    }

    @Test func `a teacher's token has an author whose name is one`() async throws {
        let secret = try TokenSecret()
        let teacher = ["token", "--secret-file", secret.path, "--role", "teacher", "--expires", "1h"]
        #expect(try await LecternProcess.run(arguments: teacher + ["--author", "anna"]).exitCode == 0)
        for author in [[], ["--author", "Anna B"], ["--author", ""]] {
            #expect(try await LecternProcess.run(arguments: teacher + author).exitCode == 64)
        }
    }

    @Test func `a daemon that would be open to everybody does not start`() async throws {
        let (code, log) = try await LecternProcess.run("serve", "--http", "0.0.0.0:0")
        #expect(code == 78)
        #expect(log.contains("auth.insecure"))
        let (noKey, text) = try await LecternProcess.run("serve", "--set", "auth.mode=token")
        #expect(noKey == 78)
        #expect(text.contains("auth.secret_file"))
    }
}
