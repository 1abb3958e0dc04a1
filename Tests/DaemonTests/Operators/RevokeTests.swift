import Cryptography
import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// `lectern token` and `lectern revoke` beside a daemon and two gateways.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct RevokeTests {
    private func gateway(_ name: String, _ nats: NATSTestServer, _ secret: TokenSecret) throws -> DaemonProcess {
        try DaemonProcess(name, nats: nats.url, http: "127.0.0.1:0", ["node.roles=gateway"] + secret.settings)
    }

    private func status(_ http: HTTPClient, _ token: String) async throws -> Int {
        try await http.send("GET", "/api/rooms?limit=1", headers: [("Authorization", "Bearer \(token)")]).statusCode
    }

    private func ready(_ gateway: DaemonProcess) async throws -> HTTPClient {
        let http = HTTPClient(port: try await gateway.httpPort())
        try await eventually("the gateway is ready", is: await http.get("/readyz").statusCode == 200)
        return http
    }

    @Test func `a revoked token is refused by every gateway within a second`() async throws {
        let secret = try TokenSecret()
        try await NATSTestServer.with(jetStream: true) { nats in
            let core = try await DaemonProcess.serving("core", nats: nats.url, ["node.roles=core"])
            let gateways = try ["g1", "g2"].map { try gateway($0, nats, secret) }
            var sites: [HTTPClient] = []
            for gateway in gateways { sites.append(try await ready(gateway)) }
            let tokens = try await ["anna", "bob"].asyncMap {
                try await secret.token(["--room", "r", "--role", "teacher", "--author", $0])
            }
            for site in sites { for token in tokens { #expect(try await status(site, token) == 200) } }

            let revoked = try await LecternProcess.run(
                "revoke", tokens[0], "--secret-file", secret.path, "--nats", nats.url)
            #expect(revoked.exitCode == 0 && revoked.log.hasPrefix("revoked jti "), "\(revoked.log)")
            #expect(revoked.log.contains(" until "), "\(revoked.log)")
            let start = ContinuousClock.now
            for site in sites { try await eventually("it is refused", is: await status(site, tokens[0]) == 401) }
            #expect(start.duration(to: .now) < .seconds(1))
            let subject = try await LecternProcess.run("revoke", "--sub", "bob", "--nats", nats.url)
            #expect(subject.exitCode == 0 && subject.log == "revoked sub bob for good\n", "\(subject.log)")
            for site in sites { try await eventually("it is refused", is: await status(site, tokens[1]) == 401) }
            let endless = try await LecternProcess.run(
                "revoke", endlessToken(secret), "--secret-file", secret.path, "--nats", nats.url)
            #expect(endless.exitCode == 0 && endless.log.contains("for good"), "\(endless.log)")
            for process in gateways + [core] { #expect(await process.terminate() == 0) }
        }
    }

    @Test func `without a journal a revocation says that it is lost with the daemon`() async throws {
        let secret = try TokenSecret()
        try await BoardService.with(["journal.mode=none"] + secret.settings) { service in
            let site = try await ready(service.daemon)
            let token = try await secret.token(["--role", "operator"])
            #expect(try await status(site, token) == 200)
            let (code, log) = try await LecternProcess.run("revoke", token, "--nats", service.nats.url)
            #expect(code == 0 && log.contains("until the daemon ends"), "\(log)")
            try await eventually("it is refused", is: await status(site, token) == 401)
        }
    }

    /// A token whose end no clock will see.
    private func endlessToken(_ secret: TokenSecret) throws -> String {
        func part(_ bytes: Data) -> String {
            bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let key = Array(try Data(contentsOf: URL(fileURLWithPath: secret.path)))
        let claims = #"{"room":"*","role":"operator","jti":"a","exp":1e19}"#
        let body = [#"{"alg":"HS256","typ":"JWT"}"#, claims].map { part(Data($0.utf8)) }.joined(separator: ".")
        return "\(body).\(part(Data(HMACSHA256.code(of: Array(body.utf8), key: key))))"
    }

    @Test func `revoke says what it cannot take`() async throws {
        let secret = try TokenSecret()
        let token = try await secret.token(["--role", "operator"])
        // No jti: {"role":"operator"}.
        let parts = token.split(separator: ".")
        let unnamed = "\(parts[0]).eyJyb2xlIjoib3BlcmF0b3IifQ.\(parts[2])"
        let other = try TestFiles.write("another secret of the test with 32 bytes", "other")
        for (arguments, expected, text) in [
            ([], 64, "Give a token"), (["a", "--sub", "b"], 64, "Give a token"),
            ([unnamed], 1, "no jti"), ([String(repeating: "a", count: 257)], 1, "1 to 256 bytes"),
            ([String(token.prefix(60))], 1, "neither a whole token nor a jti"), (["a b"], 1, "neither"),
            ([token, "--secret-file", other], 1, "not of this key"),
            ([token, "--secret-file", "/nowhere"], 1, "/nowhere cannot be read: No such file"),
        ] {
            let (code, log) = try await LecternProcess.run(arguments: ["revoke"] + arguments)
            #expect(code == Int32(expected) && log.contains(text), "\(arguments): \(log)")
        }
        let shown = try await LecternProcess.run(
            "token", "--secret-file", secret.path, "--role", "operator", "--expires", "1h", "--show-jti")
        #expect(shown.log.split(separator: "\n").count == 2)
    }
}
