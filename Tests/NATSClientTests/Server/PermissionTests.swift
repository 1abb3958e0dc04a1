import Foundation
import NATSTestServer
import Testing

@testable import NATSClient

@Suite struct PermissionTests {
    /// Runs a body as a user with these permissions, on its own server.
    private func with(
        _ permissions: String, _ body: @Sendable (NATSConnection) async throws -> Void
    ) async throws {
        let configuration = """
            accounts: { CLASS: { users: [ { user: ada, password: ada, permissions: { \(permissions) } } ] } }
            """
        try await NATSTestServer.with(configuration: configuration) { server in
            let nats = NATSConnection(NATSSettings(server, user: "ada"), logger: .silent)
            try await nats.connect(within: .seconds(30))
            try await body(nats)
            await nats.close()
        }
    }

    @Test func `A request that may not be published fails at once with the reason`() async throws {
        try await with("publish: { deny: \"yours\" }") { nats in
            let error = NATSError.notPermitted(PermissionViolation(.publish, "yours"))
            await #expect(throws: error) { try await nats.request(to: "yours", timeout: .seconds(600)) }
            await #expect(throws: error) { try await nats.requestMany(to: "yours", window: .seconds(600)) }
            // Other requests go on.
            await #expect(throws: NATSError.noResponders) { try await nats.request(to: "mine", timeout: .seconds(600)) }
        }
    }

    @Test func `Requests of a user who may not receive replies fail at once with the reason`() async throws {
        try await with("subscribe: { deny: \"_INBOX.>\" }") { nats in
            for _ in 1...2 {
                do throws(NATSError) {
                    _ = try await nats.request(to: "a", timeout: .seconds(600))
                    Issue.record("answered")
                } catch .notPermitted(let violation) {
                    #expect(violation.action == .subscribe && violation.subject.hasPrefix("_INBOX."))
                }
            }
        }
    }

    @Test func `An observer is told of subscriptions and messages that are refused`() async throws {
        try await with("publish: { deny: \"yours\" }, subscribe: { deny: \"theirs\" }") { nats in
            let violations = Recorder<PermissionViolation>()
            let observation = nats.onPermissionViolation { violations.append($0) }
            _ = try nats.subscribe("theirs") { _ in }
            try nats.publish([], to: "yours")
            #expect(
                try await violations.values(2) == [
                    PermissionViolation(.subscribe, "theirs"), PermissionViolation(.publish, "yours"),
                ])
            observation.cancel()
        }
    }

    @Test func `Credentials that cannot be read are told of with their file`() async throws {
        try await NATSTestServer.with { server in
            var settings = NATSSettings(server)
            settings.credentialsFile = "/no/such.creds"
            let error = NATSError.unreadableCredentials(path: "/no/such.creds", why: "No such file or directory")
            #expect(throws: error) { try settings.checkFiles() }
            let nats = NATSConnection(settings, logger: .silent)
            await #expect(throws: error) { try await nats.connect(within: .milliseconds(200)) }
        }
    }

    @Test func `A file that holds no credentials is told of with its name`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).creds")
        try Data("nothing".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await NATSTestServer.with { server in
            var settings = NATSSettings(server)
            settings.credentialsFile = file.path
            let nats = NATSConnection(settings, logger: .silent)
            await #expect {
                try await nats.connect(within: .milliseconds(200))
            } throws: { error in
                "\(error)".contains(file.path)
            }
        }
    }
}

@Suite struct PermissionViolationTests {
    @Test func `What the server says is read, with the subject`() {
        let publish = PermissionViolation(reported: #"Permissions Violation for Publish to "ink.rooms""#)
        #expect(publish == PermissionViolation(.publish, "ink.rooms"))
        #expect(publish?.description == "this NATS user may not publish to ink.rooms")
        let subscribe = PermissionViolation(reported: #"Permissions Violation for Subscription to "_INBOX.a.*""#)
        #expect(subscribe == PermissionViolation(.subscribe, "_INBOX.a.*"))
        let queue = PermissionViolation(reported: #"Permissions Violation for Subscription to "a" using queue "q""#)
        #expect(queue == PermissionViolation(.subscribe, "a"))
    }

    @Test(arguments: ["", "Authorization Violation", #"Unknown "thing""#, #"Permissions Violation for Publish to "a"#])
    func `Anything else is no violation`(_ text: String) {
        #expect(PermissionViolation(reported: text) == nil)
    }
}
