import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// Commands whose NATS user lacks a permission.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct PermissionTests {
    @Test func `a command reports the missing permission, not a missing reply`() async throws {
        let account = NATSTestServer.account(of: "ann", permissions: #"publish: { deny: "ink.>" }"#)
        try await NATSTestServer.with(configuration: account) { nats in
            for (command, denied) in [
                (["watch", "--room", "a"], "ink.0.a.join.main"), (["clock", "--room", "a"], "ink.0.a.clock.main"),
                (["publish", "demo", "--room", "a", "--author", "ann", "--quiet"], "ink.0.a.in.ann"),
                (["close", "a"], "ink.0.a.info"), (["rooms"], "ink.rooms"),
            ] {
                let process = try LecternProcess(command + ["--nats", "nats://ann:ann@127.0.0.1:\(nats.port)"])
                #expect(await process.exitCode() == 1)
                #expect(process.log.hasSuffix("lectern: this NATS user may not publish to \(denied)\n"))
            }
        }
    }

    @Test func `following without a service says once what is missing and asks again, the head ends at once`()
        async throws
    {
        try await NATSTestServer.with { nats in
            let head = try LecternProcess(["watch", "--room", "a", "--head", "--for", "1s", "--nats", nats.url])
            let (code, log) = try await LecternProcess.run(
                "watch", "--room", "a", "--for", "2s", "--nats", nats.url)
            #expect(code == 1)
            #expect(log.ranges(of: "nobody answers at ink.0.a: is the service running").count == 2, "\(log)")
            #expect(log.ranges(of: "Trying again.").count == 1, "\(log)")
            #expect(log.ranges(of: "join failed").count == 1, "\(log)")
            let asked = log.firstMatch(of: /failed joins (\d+)/).flatMap { Int($0.1) }
            #expect((asked ?? 0) > 1, "\(log)")
            #expect(await head.exitCode() == 1)
            #expect(head.log.contains("never joined: nobody answers at ink.0.a"))
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
            let ink = try TestFiles.write("<ink><trace>1 2, 3 4</trace></ink>", "file.inkml")
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

    @Test
    func `with these users tokens are revoked and rooms erased, and nobody asks for more than it may`() async throws {
        let certificates = try TestCertificates()
        defer { certificates.remove() }
        let secret = try TokenSecret()
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
                    "auth.secret_file=\(secret.path)", "--set", "checkpoint.interval=1s",
                ], ["LECTERN_NATS_GATEWAY_PASSWORD": Self.password])
            try await daemon.waitForLog(" serving")
            let http = HTTPClient(port: try await daemon.httpPort())
            try await eventually("it is ready", is: await http.get("/readyz").statusCode == 200)
            let token = try await secret.token(["--role", "operator"])
            func status() async throws -> Int {
                try await http.send("GET", "/metrics", headers: [("Authorization", "Bearer \(token)")]).statusCode
            }
            #expect(try await status() == 200)
            let room = ["--room", "physics", "--partitions", "8"]
            let teacher = try start(["publish", "demo", "--author", "ann", "--user", "ann", "--speed", "100"] + room)
            #expect(await teacher.exitCode() == 0, "\(teacher.log)")
            let revoking = try start(["revoke", token, "--user", "operator"])
            #expect(await revoking.exitCode() == 0, "\(revoking.log)")
            try await eventually("it is refused", is: await status() == 401)
            let erasing = try start(["erase", "physics", "--yes", "--partitions", "8", "--user", "operator"])
            #expect(await erasing.exitCode() == 0, "\(erasing.log)")
            #expect(erasing.log.contains("erased physics: deleted "), "\(erasing.log)")
            daemon.send(SIGTERM)
            #expect(await daemon.exitCode() == 0)
            #expect(!daemon.log.contains("Permissions Violation"), "\(daemon.log)")
        }
    }

    @Test func `a command that cannot connect says what to do about the user or a file`() async throws {
        @Sendable func rooms(_ arguments: String...) async throws -> String {
            let (code, log) = try await LecternProcess.run(arguments: ["rooms"] + arguments)
            #expect(code == 2)
            return log
        }
        try await NATSTestServer.with(configuration: "authorization { user: a, password: b }") { nats in
            #expect(try await rooms("--nats", nats.url).contains("Name a user and its password"))
            let file = try await rooms("--nats", nats.url, "--ca", "/no/such.pem")
            #expect(file.hasSuffix("/no/such.pem: cannot be read: No such file or directory\n"))
        }
        let credentials = try await rooms("--credentials", "/no/such.creds")
        #expect(credentials.contains("/no/such.creds: cannot be read: No such file or directory"))
    }

    @Test func `a daemon that cannot read the CA file says so and does not start`() async throws {
        let daemon = try LecternProcess(
            ["serve", "--nats", "tls://127.0.0.1:1", "--http", "off", "--set", "nats.ca=/no/such.pem"])
        #expect(await daemon.exitCode() == 78)
        #expect(daemon.log.contains("/no/such.pem: cannot be read: No such file or directory"))
    }
}
