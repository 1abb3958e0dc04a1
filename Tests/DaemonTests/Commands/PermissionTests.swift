import NATSTestServer
import Testing

/// Commands whose NATS user lacks what they need.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct PermissionTests {
    @Test(arguments: [
        (["watch", "--room", "a"], "publish to ink.0.a.join.main"),
        (["clock", "--room", "a"], "publish to ink.0.a.clock.main"),
        (["publish", "demo", "--room", "a", "--author", "ann", "--quiet"], "publish to ink.0.a.in.ann"),
        (["close", "a"], "publish to ink.0.a.info"),
        (["rooms"], "publish to ink.rooms"),
    ])
    func `a command says what its user may not do, not that nobody answers`(
        _ command: [String], _ denied: String
    ) async throws {
        let configuration = """
            accounts: { CLASS: { users: [
              { user: ann, password: ann, permissions: { publish: { deny: "ink.>" } } } ] } }
            """
        try await NATSTestServer.with(configuration: configuration) { nats in
            let process = try LecternProcess(command + ["--nats", "nats://ann:ann@127.0.0.1:\(nats.port)"])
            #expect(await process.exitCode() == 1)
            #expect(process.log == "lectern: this NATS user may not \(denied)\n")
        }
    }

    @Test func `credentials that are not there are told of at once, with status 2`() async throws {
        let (code, log) = try await LecternProcess.run("rooms", "--credentials", "/no/such.creds")
        #expect(code == 2)
        #expect(log.contains("/no/such.creds: the credentials cannot be read: No such file or directory"))
    }

    @Test func `who follows the head and sees nothing fails and says why`() async throws {
        try await NATSTestServer.with { nats in
            let (code, log) = try await LecternProcess.run(
                "watch", "--room", "a", "--head", "--for", "100ms", "--nats", nats.url)
            #expect(code == 1)
            #expect(log.contains("no operation came on ink.0.a.head, and nobody answers at ink.0.a"))
        }
    }
}
