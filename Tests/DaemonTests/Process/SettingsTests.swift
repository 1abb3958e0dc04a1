import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct SettingsTests {
    @Test func `check prints what is given, with its place, and hides passwords`() async throws {
        let folder = try TestFolder()
        let file = try folder.write("nats:\n  user: me\n  password: hunter2\nlimits:\n  rooms: 500\n", "a.yaml")
        let check = try LecternProcess(["check", "--config", file, "--set", "logging.level=debug"])
        #expect(await check.exitCode() == 0)
        #expect(check.log.contains("limits.rooms = 500") && check.log.contains("\(file):5"))
        #expect(check.log.contains("nats.password = ***") && !check.log.contains("hunter2"))
        #expect(check.log.contains("logging.level = debug") && check.log.contains("argument"))
        #expect(!check.log.contains("history.depth"))
        let all = try LecternProcess(["check", "--config", file, "--all", "--json"])
        #expect(await all.exitCode() == 0)
        #expect(all.log.contains(#"{"key":"history.depth","value":"100"}"#))
    }

    @Test func `check names every fault, also in files that settings name`() async throws {
        let folder = try TestFolder()
        let file = try folder.write("limits:\n  rooms: many\n  shard: 3\n", "a.yaml")
        let check = try LecternProcess(["check", "--config", file])
        #expect(await check.exitCode() == 78)
        #expect(check.log.contains(":2: limits.rooms") && check.log.contains(":3: limits.shard"))
        let short = try folder.write("too short", "secret")
        let secret = try LecternProcess(["check", "--set", "auth.mode=token", "--set", "auth.secret_file=\(short)"])
        #expect(await secret.exitCode() == 78)
        #expect(secret.log.contains("a secret has 32 or more"))
        // The daemon refuses what the command refuses, so that systemd does not start it again and again.
        let daemon = try LecternProcess(["serve", "--set", "auth.mode=token", "--set", "auth.secret_file=\(short)"])
        #expect(await daemon.exitCode() == 78)
        #expect(daemon.log.contains("auth: ") && daemon.log.contains("a secret has 32 or more"))
        let missing = try LecternProcess(["check", "--set", "nats.ca=\(folder.path)/none.pem"])
        #expect(await missing.exitCode() == 78)
        #expect(missing.log.contains("none.pem"))
        let languages = try LecternProcess(["check", "--set", "http.languages=\(folder.path)/none"])
        #expect(await languages.exitCode() == 78)
        #expect(languages.log.contains("http.languages: \(folder.path)/none"))
    }

    @Test
    func `SIGHUP changes what may change, names what takes a restart, and changes nothing with a fault`() async throws {
        let folder = try TestFolder()
        let file = try folder.write("logging:\n  level: info\n", "a.yaml")
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try LecternProcess([
                "serve", "--config", file, "--nats", nats.url, "--http", "127.0.0.1:0", "--set", "logging.format=json",
            ])
            try await daemon.waitForLog(#""message":"starting""#)
            let first = try #require(daemon.log.split(separator: "\n").first)
            let start = try #require(try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
            #expect(start["message"] as? String == "starting")
            let fields = try #require(start["fields"] as? [String: Any])
            #expect((fields["settings"] as? [String: String])?["logging.format"] == "json")

            // Also while it starts.
            _ = try folder.write("logging:\n  level: loud\n", "a.yaml")
            daemon.send(SIGHUP)
            try await daemon.waitForLog("settings not reloaded")
            _ = try folder.write("logging:\n  level: debug\nlimits:\n  rooms: 77\n", "a.yaml")
            daemon.send(SIGHUP)
            try await daemon.waitForLog("settings reloaded")
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("settings reloaded") })
            #expect(line.contains(#""changed":["logging.level"],"needs restart":["limits.rooms"]"#))
            try await daemon.waitForLog(#""message":"serving""#)
            await daemon.end()
            #expect(daemon.log.contains(#""message":"stopped""#))
        }
    }

    @Test
    func `a key of tokens that is replaced counts after SIGHUP, the one before no longer, and no log has a password`()
        async throws
    {
        let secret = try TokenSecret()
        let old = try await secret.token(["--role", "operator"])
        try await NATSTestServer.with(jetStream: true) { nats in
            let daemon = try LecternProcess(
                ["serve", "--nats", nats.url, "--http", "127.0.0.1:0"]
                    + (secret.settings + ["logging.level=trace"]).flatMap { ["--set", $0] },
                environment: ["LECTERN_NATS_USER": "ann", "LECTERN_NATS_PASSWORD": "s3cret"])
            let http = HTTPClient(port: try await daemon.httpPort())
            func status(_ token: String) async throws -> Int {
                try await http.send("GET", "/metrics", headers: [("Authorization", "Bearer \(token)")]).statusCode
            }
            // Before it knows which tokens are revoked it lets none in.
            try await eventually("the token is good", is: await status(old) == 200)
            try secret.change(String(repeating: "b", count: 40))
            daemon.send(SIGHUP)
            try await daemon.waitForLog("settings reloaded")
            #expect(daemon.log.contains("the key of tokens"))
            #expect(try await status(old) == 401)
            #expect(try await status(try await secret.token(["--role", "operator"])) == 200)
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
            // No password is in the log at any level.
            #expect(daemon.log.contains(#""nats.password": "***""#) && !daemon.log.contains("s3cret"))
        }
    }
}
